"""problems/abc.yaml in PyTorch."""

import torch

H = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
W_Q = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
W_K = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
W_V = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
Q, K, V = H @ W_Q, H @ W_K, H @ W_V
scores = Q @ K.T / K.shape[1] ** 0.5
exponentials = torch.exp(scores)
row_sum = exponentials.sum(dim=1, keepdim=True)
A = exponentials / row_sum
torch.set_printoptions(precision=3)
for name, matrix in {"Q": Q, "K": K, "V": V, "S": scores, "exp": exponentials, "A": A, "O": A @ V}.items():
    print(name, matrix)
