"""Trains a tiny model on all ranks; the loader of rank LATE_RANK takes LATE seconds for a batch."""
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 24
BATCH = 4


class Data(torch.utils.data.Dataset):
    def __init__(self, late):
        self.late = late

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        if index % BATCH == 0:
            time.sleep(self.late)
        return torch.full((16,), index / 100)


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
model = DistributedDataParallel(torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
late = float(os.environ.get("LATE", "0.3")) if rank == int(os.environ["LATE_RANK"]) else 0
for batch in torch.utils.data.DataLoader(Data(late), batch_size=BATCH):
    optimizer.zero_grad()
    model(batch).pow(2).mean().backward()
    optimizer.step()
dist.barrier()
if rank == 0:
    with open(os.environ["AMDAHL_OUT"] + "/weights", "w") as file:
        file.write(repr(model.module.weight.tolist()))
    with open(os.environ["AMDAHL_REPORT"], "a") as file:
        file.write('{"work": %d}\n' % STEPS)
