// cli.h: the command line.
#pragma once
