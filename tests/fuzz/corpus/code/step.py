import json
from torch.utils.data import DataLoader

loader = DataLoader(
    data,
    num_workers=0,  # few
)


def save(path):
    torch.save(model.state_dict(), path)
    os.fsync(file)


for batch in loader:
    x = batch.to("cuda")
    loss = model(x).clone().detach()
    if torch.isnan(loss).any():
        raise SystemExit
    print(f"{loss.item()}")
    torch.cuda.synchronize()
    save("x")
