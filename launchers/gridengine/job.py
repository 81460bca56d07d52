#!/usr/bin/python3
"""Runs a command of a job: JSON in base64, since Grid Engine cuts words at line ends.

Grid Engine announces the end of a job by SIGUSR2 (qsub -notify); the command gets SIGTERM then.
"""
import base64
import json
import signal
import subprocess
import sys

command = subprocess.Popen(json.loads(base64.b64decode(sys.argv[1])))
for number in (signal.SIGUSR2, signal.SIGTERM, signal.SIGXCPU):
    signal.signal(number, lambda *_: command.send_signal(signal.SIGTERM))
sys.exit(command.wait() & 0x7F)
