import time


def scale():
    time.sleep(0.07)
    return 3


total = 0
for step in range(1, 21):
    total += step * scale()
    if step % 5 == 0:
        print("step", step, "total", total)
