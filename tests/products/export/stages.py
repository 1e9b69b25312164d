# SPDX-License-Identifier: MIT
"""What people write in a forward, by what it takes: the table of drawn_modules.py.

A stage is statements and the expression that becomes x, then `where` and members besides those of MEMBERS; a line that
is indented goes on; a * makes it three times as frequent. {a|b} is one of two spellings. D is the width, T the number
of tokens, C of channels, V of the vocabulary; E another width, H a number of heads, K 2 or 3. P() is a parameter, B() a
buffer."""

MEMBERS = """
fc = nn.Linear(D, D{|, bias=False}); up = nn.Linear(D, E); gate = nn.Linear(D, E); down = nn.Linear(E, D)
q = nn.Linear(D, D); k = nn.Linear(D, D); v = nn.Linear(D, D); o = nn.Linear(D, D); qkv = nn.Linear(D, 3 * D)
two = nn.Linear(D, 2 * E); score = nn.Linear(D, 1); head = nn.Linear(D, {3|V}); norm = nn.LayerNorm(D{|, eps=1e-6})
gain = P(D); bias = P(D); number = P({()|1|1, 1}); weight = P(E, D); offset = P(E); one = P(1, 1, D); pos = P(1, T, D)
att = nn.MultiheadAttention(D, H, {batch_first=True|dropout=0.1, batch_first=True|bias=False, batch_first=True})
causal = B(torch.ones(T, T).triu(1).bool()); odd = B(torch.arange(T) % 2); emb = nn.Embedding(V, D{|, padding_idx=0})
drop = nn.Dropout(0.1); layers = nn.ModuleList([nn.Linear(D, D) for _ in range(2)]); window = B(torch.hann_window(16))
"""

ANY = """
*{F.relu(x)|torch.relu(x)|x.relu()|F.relu(x, inplace=True)|x.relu_()|self.act(x)} where act = nn.ReLU({|inplace=True})
*{F.gelu(x)|F.gelu(x, approximate="tanh")|self.act(x)} where act = nn.GELU({|"tanh"|approximate="tanh"})
*{F.silu(x)|x * torch.sigmoid(x)|x * x.sigmoid()|self.act(x)|x * torch.sigmoid(1.702 * x)} where act = nn.SiLU()
*{torch.{sigmoid|tanh}(x)|x.{sigmoid|tanh}()|F.{sigmoid|tanh}(x)|self.act(x)} where act = nn.{Sigmoid|Tanh}()
F.{leaky_relu|elu|hardswish|hardsigmoid|mish|softplus|softsign|relu6|selu|celu|hardtanh|logsigmoid}(x)
self.act(x) where act = nn.{LeakyReLU()|LeakyReLU(0.2)|ELU()|Hardswish()|Hardsigmoid()|Mish()|Softplus()|ReLU6()|PReLU()}
0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * {x**3|torch.pow(x, 3)|x.pow(3)|x * x * x})))
{0.5 * x * (1 + torch.erf(x / math.sqrt(2)))|x * 0.5 * (1.0 + torch.erf(x * 0.70710678))|x * torch.tanh(F.softplus(x))}
{torch.exp(-x**2)|(-x.square()).exp()|torch.exp(-torch.pow(x, 2) / 2)|torch.log(1 + torch.exp(x))|torch.log1p(x.abs())}
{torch.log(x.abs() + 1e-3)|(x**2 + 1e-3).log()|torch.log10(torch.clamp(x * x, min=1e-3))|torch.rsqrt(x**2 + 1)}
{torch.sqrt(x.abs() + 1)|(x * x + 1).sqrt()|1 / (1 + x.abs())|(1 + x.abs()).reciprocal()|(x.abs() + 1) ** -0.5}
{x.clamp(-1, 1)|torch.clamp(x, min=0.0)|x.clamp(max=1)|torch.clip(x, -2, 2)|x.clamp_(-1, 1)|x.clamp(min=-1, max=1)}
torch.{maximum|minimum|max|min}(x, {torch.zeros_like(x)|0.5 * x|self.gain})
torch.where({x > 0|x >= 0.5|torch.gt(x, 0)|(x > -1) & (x < 1)|x.abs() < 1}, x, {0.1 * x|torch.zeros_like(x)|x.exp()})
{x.masked_fill(x < 0, 0.0)|x * (x > 0)|x * (x > 0).float()|(x > 0).to(x.dtype) * x|x.masked_fill(~(x > 0), -1.0)}
{x.abs()|torch.abs(x)|abs(x)|-x|torch.neg(x)|torch.sign(x) * x|x.sign() * (x.abs() + 1).log()|x**3|x**2|torch.square(x)}
*{x * 2|2 * x|x + 1|1 - x|x / 3|3 / (x.abs() + 1)|x.mul(2).add(1)|torch.sub(x, 0.5)|x.div(2)|torch.mul(x, 0.3)|x.pow(2)}
y = x * 2; y += 1; y *= 0.5; y -= x; {y /= 3|y.add_(x)|y.mul_(0.5)|y = y.neg()|y **= 2}; y
{torch.addcmul(x, x, x, value=0.5)|torch.lerp(x, torch.tanh(x), 0.3)|torch.add(x, x, alpha=2)|x.sub(x * x, alpha=0.5)}
x = {self.drop(x)|F.dropout(x, 0.1, self.training)|F.dropout(x, p=0.5, training=False)|x.type_as(x)|x.to(x.device)}; x + 1
x{.contiguous()|.float()|.to(torch.float32)|.detach()|.clone()|.to(x)|.type(torch.float32)|.requires_grad_(False)} * 0.5
*{self.gain * x + self.bias|x * self.gain|x + self.bias|(x - self.bias) / self.gain.exp()|x * self.number|x - self.number}
x {*|+} {torch.exp(self.number)|self.number.exp()|torch.tanh(self.gain)|self.gain**2|F.softmax(self.gain, dim=0)}
*x + {self.norm(x)|self.fc(F.relu(self.norm(x)))|self.drop(self.fc(x))|0.5 * self.down(F.silu(self.up(self.norm(x))))}
{F.softmax(x, dim=-1)|torch.softmax(x, -1)|x.softmax(dim=-1)|self.s(x)|x.softmax(1)} where s = nn.Softmax(dim={-1|1})
{F.log_softmax(x, dim=-1)|torch.log_softmax(x, -1)|x - x.logsumexp(-1, keepdim=True)|torch.log(torch.softmax(x, -1))}
e = torch.exp(x{| - x.max(dim=-1, keepdim=True)[0]| - x.amax(-1, True)}); e / {e.sum(-1, keepdim=True)|torch.sum(e, -1, True)}
"""

SEQUENCE = """
*{self.fc(x)|self.up(x)|F.linear(x, self.weight, self.offset)|F.linear(x, self.fc.weight)}
{x @ self.weight.T + self.offset|torch.matmul(x, self.weight.t())|x.matmul(self.weight.transpose(0, 1))|x @ self.weight.mT|
  torch.einsum("btd,ed->bte", x, self.weight)|torch.einsum("bij,kj->bik", x, self.weight) + self.offset}
*self.down({F.relu|F.gelu|torch.tanh|F.silu}(self.up(x)))
*x + self.net(x) where net = nn.Sequential(nn.LayerNorm(D), nn.Linear(D, E), nn.{GELU|ReLU|SiLU}(), nn.Dropout(0.1),
  nn.Linear(E, D))
{F.glu(self.two(x), dim=-1)|F.glu(self.two(x))|self.glu(self.two(x))} where glu = nn.GLU(dim=-1)
a, b = {self.two(x).chunk(2, dim=-1)|torch.chunk(self.two(x), 2, -1)|self.two(x).split(E, dim=2)}; a * {torch.sigmoid(b)|F.gelu(b)}
*self.down({F.silu|F.gelu|torch.sigmoid}(self.gate(x)) * self.up(x))
g = {torch.sigmoid(self.q(x))|self.q(x).sigmoid()}; {g * self.v(x) + (1 - g) * x|torch.lerp(x, self.v(x), g)|x + g * self.v(x)}
*{self.norm(x)|F.layer_norm(x, (D,), self.norm.weight, self.norm.bias)|F.layer_norm(x, x.shape[-1:])}
m = x.mean({-1, keepdim=True|dim=-1, keepdim=True|2, True}); v = {x.var(-1, keepdim=True, unbiased=False)|
  ((x - m) ** 2).mean(-1, keepdim=True)|torch.var(x, dim=-1, unbiased=False, keepdim=True)|(x - m).pow(2).mean(2, True)};
  y = {(x - m) / torch.sqrt(v + 1e-5)|(x - m) * torch.rsqrt(v + 1e-5)|(x - m) / (v + 1e-5).sqrt()}; {self.gain * y + self.bias|y}
{v, m = torch.var_mean(x, dim=-1, keepdim=True)|m = x.mean(-1, True); v = x.std(-1, keepdim=True)}; self.gain * (x - m) / (v + 1e-3)
*{x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)|x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + 1e-5)|
  x / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-6)|x * (x * x).mean(-1, True).add(1e-6).rsqrt()}{| * self.gain}
x / ({x.norm(dim=-1, keepdim=True)|torch.norm(x, dim=-1, keepdim=True)|x.pow(2).sum(-1, keepdim=True).sqrt()} + 1e-3)
{F.normalize(x, dim=-1)|F.normalize(x, p=2, dim=2)|F.normalize(x, dim=1)|F.normalize(x)|F.normalize(x, p=1, dim=-1)}
self.n(x.transpose(1, 2)).transpose(1, 2) where n = nn.{GroupNorm(2, D)|InstanceNorm1d(D, affine=True)|BatchNorm1d(D)}
{(x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-2)|x / (x.amax(1, keepdim=True) - x.amin(1, True) + 1e-2)}
w = {torch.softmax(self.score(x), dim=1)|F.softmax(self.score(torch.tanh(x)), 1)|self.score(x).softmax(-2)}; {(w * x).sum(1)|
  torch.sum(w * x, dim=1)|(w.transpose(1, 2) @ x).squeeze(1)|torch.einsum("btk,btd->bd", w, x)|(x * w).mean(dim=1)}
w = self.score(x).squeeze(-1).softmax(-1); {torch.bmm(w.unsqueeze(1), x).squeeze(1)|(w.unsqueeze(-1) * x).sum(1)|
  torch.einsum("bt,btd->bd", w, x)|(w[:, :, None] * x).sum(dim=1)}
s = {self.score(x)|x @ self.gain[:, None]}; e = torch.exp(s - {s.max(dim=1, keepdim=True)[0]|s.amax(1, keepdim=True)|
  s.max(1, True).values}); ((e / e.sum(1, keepdim=True)) * x).sum(1)
*x.{mean(1)|mean(dim=1)|max(1)[0]|max(dim=1).values|amax(1)|sum(1)|sum(dim=-2)|std(1)|amin(1)|logsumexp(1)|var(dim=1)}
{torch.mean(x, 1)|torch.max(x, dim=1)[0]|torch.sum(x, dim=1) / x.size(1)|torch.amax(x, dim=1)|torch.logsumexp(x, dim=1)}
*{x[:, 0]|x[:, -1]|x[:, 0, :]|x[:, T // 2]|x.select(1, 0)|x[:, -1, :]|x.flatten(1)|x.reshape(x.size(0), -1)|self.f(x)|
  x.view(x.shape[0], -1)|torch.flatten(x, 1)|torch.flatten(x, start_dim=1)} where f = nn.Flatten()
torch.cat({[x.mean(1), x.amax(1)]|(x.mean(dim=1), x.std(dim=1))|[x[:, -1], x.max(1).values, x.mean(1)]}, dim={-1|1})
x * torch.sigmoid(self.down(F.relu(self.up({x.mean(1, keepdim=True)|x.mean(1).unsqueeze(1)|torch.mean(x, dim=1, keepdim=True)}))))
m = {torch.arange(x.size(1)) < 3|self.odd.bool()}; {x * m[None, :, None]|x.masked_fill(~m[None, :, None], 0.0)|
  (x * m.float().view(1, -1, 1)).sum(1) / m.sum()|torch.where(m.view(1, -1, 1), x, torch.zeros_like(x))}
m = (x.abs().sum(-1, keepdim=True) > 0.1).float(); (x * m).sum(1) / m.sum(1).clamp(min=1)
torch.cat({[x, x.flip(1)]|(x, torch.tanh(x))|[x, x, x]|[x[:, :1], x]|(x, x - 1)|x.chunk(2, 1)[::-1]|x.split(2, 1)}, {dim=1|1|-2})
torch.cat({[x, torch.tanh(x)]|(x, x.mean(1, keepdim=True).expand(-1, x.size(1), -1))|[x, x**2]|[x, x * 0.5, -x]}, dim={-1|2})
{torch.stack([x, 2 * x], dim=1).flatten(1, 2)|torch.stack((x, -x), -1).sum(-1)|torch.stack([x, x.tanh()]).mean(0)|
  torch.stack([x, x * x], dim=2).reshape(1, T, -1)|torch.stack([x, -x], dim=-1).flatten(2)|torch.stack(x.unbind(1)[::-1], dim=1)}
{a, b = x.split([1, T - 1], dim=1)|a, b = torch.split(x, [1, T - 1], 1)|a, b = x[:, :1], x[:, 1:]}; {a + b|torch.cat([b, a], 1)}
{torch.stack([r * i for i, r in enumerate(x.unbind(1))], 1)|sum(x.unbind(dim=1))|x[:, :, None].expand(-1, -1, 2, -1).flatten(1, 2)|
  x.repeat(1, 2, 1)|x.repeat_interleave(2, dim=1)|x.tile(1, 2, 1)|x.repeat(1, 1, 2)|torch.repeat_interleave(x, 2, 2)}
{torch.roll(x, 1, 1)|x.roll(shifts=-1, dims=1)|x.flip(1)|torch.flip(x, [1])|x.flip(dims=(-1,))|x.roll(2, -1)|F.pad(x, (1, 0))|
  F.pad(x, (0, 0, 1, 1))|F.pad(x, [0, 0, K, 0], value=1.0)|F.pad(x, (0, 0, 0, 2), "constant", 0)|F.pad(x, (0, 0, -1, 0))}
*{x[:, 1:] - x[:, :-1]|torch.diff(x, dim=1)|x[:, 2:] - 2 * x[:, 1:-1] + x[:, :-2]|x - F.pad(x, (0, 0, 1, 0))[:, :-1]}
{x[:, [0, 2, 1]]|x[:, self.i]|x.index_select(1, self.i)|x[..., [0, 1]]|x[:, ::2]|x[..., ::2]|x[:, 1::2]|x[:, :, :2]|x[..., 1:]|
  x[:, 1:-1]|x.narrow(1, 0, 2)|x[:, -2:]|x[:, : T - 1, 1:]} where i = B(torch.tensor([2, 0, 1]))
y = {x.clone()|x * 1|self.fc(x)}; {y[:, 0] = 0|y[:, :, 0] = 1.0|y[:, 1:] = x[:, :-1]|y[:, 1:] += x[:, :-1]|y[..., 0] *= 2}; y
y = {torch.zeros_like(x)|x.new_zeros(x.shape)|torch.zeros(1, T, D)}; y[:, 1:] = x[:, :-1]; x + y
{x.permute(0, 2, 1)|x.transpose(1, 2)|x.transpose(-1, -2)|x.mT|x.swapaxes(1, 2)|torch.permute(x, (0, 2, 1))|x.movedim(1, 2)}
{x.view(1, T, H, -1).permute(0, 2, 1, 3)|x.reshape(1, T, H, D // H).transpose(1, 2)|x.unflatten(-1, (H, -1)).mT}.flatten(1, 2)
*{x + self.pos|x + self.pos[:, : x.size(1)]|x + self.pos[:, : x.shape[1], :]|torch.cat([self.one.expand(x.size(0), -1, -1), x], dim=1)|
  torch.cat((self.one, x), 1)|x + {torch.sin|torch.cos}(torch.arange(x.size(1), dtype=torch.float32)[:, None] * 0.3)}
b, t, d = x.shape; q = {self.q(x)|x}.view(b, t, H, d // H).transpose(1, 2); {h = torch.cat((-q[..., d // H // 2 :],
  q[..., : d // H // 2]), dim=-1)|a, c = q.chunk(2, dim=-1); h = torch.cat([-c, a], -1)|h = torch.stack([-q[..., 1::2], q[..., ::2]],
  -1).flatten(-2)}; q = q * self.cos + h * self.sin; q.transpose(1, 2).{reshape|contiguous().view}(b, t, d)
  where cos = B(T, D // H); sin = B(T, D // H)
{torch.einsum("bij,bkj->bik", x, x)|torch.einsum("b i d, b j d -> b i j", x, x)|torch.bmm(x, x.transpose(1, 2))|x @ x.mT|
  torch.matmul(x, x.transpose(-2, -1))|x.bmm(x.permute(0, 2, 1))|torch.softmax(self.up(x), dim=-2).mT @ self.v(x)}{| / math.sqrt(D)}
*self.conv(x.transpose(1, 2)).transpose(1, 2) where conv = nn.Conv1d(D, E, {1|3|3, padding=1|3, stride=2, padding=1|2, dilation=2|
  3, padding="same"|K, bias=False|3, padding=2, dilation=2})
self.conv({x.transpose(1, 2)|x.permute(0, 2, 1)}).transpose(1, 2) where conv = nn.Conv1d(D, {D|2 * D}, 3, padding=1, groups=D)
self.b(F.{relu|silu}(self.a(x.mT))).mT where a = nn.Conv1d(D, D, 3, groups=D, padding=1); b = nn.Conv1d(D, E, 1)
y = {self.conv(F.pad(x.mT, (2, 0)))|F.conv1d(x.transpose(1, 2), self.w, self.offset, padding=1)|F.conv1d(x.mT, self.w)};
  {y.transpose(1, 2)|F.relu(y).mT|y.max(dim=-1)[0]} where conv = nn.Conv1d(D, E, 3); w = P(E, D, 3)
{F.interpolate(x.mT, {scale_factor=2|size=7|scale_factor=2, mode="linear"})|self.up(x.mT)|self.conv(x.mT)|self.t(x.mT)}.mT where
  up = nn.Upsample(scale_factor={2|3}); conv = nn.Conv1d(D, E, 3, padding=1, padding_mode="{circular|replicate}");
  t = nn.ConvTranspose1d(D, E, {2, 2|3, 2, 1, 1})
y = self.conv(x.transpose(1, 2))[:, :, :-2]; y.transpose(1, 2) where conv = nn.Conv1d(D, E, 3, padding=2)
y = self.n(self.conv(x.mT)); {y.relu().mT|F.relu(y).mean(-1)} where conv = nn.Conv1d(D, E, K); n = nn.BatchNorm1d(E)
{F.max_pool1d(x.mT, 2)|self.p(x.transpose(1, 2))|F.avg_pool1d(x.mT, kernel_size=2, stride=1)|F.adaptive_avg_pool1d(x.mT, 2)}.mT where
  p = nn.{MaxPool1d(2)|AvgPool1d(2)|MaxPool1d(3, stride=1, padding=1)|AdaptiveAvgPool1d(2)|AvgPool1d(3, 1, 1)|AdaptiveMaxPool1d(1)}
{y, h = self.rnn(x)|y, _ = self.rnn(x)|y = self.rnn(x)[0]}; {y|y[:, -1]|y.mean(1)} where rnn = nn.{GRU|LSTM}(D, E, batch_first=True)
{y, h = self.rnn(x); h[-1]|_, h = self.rnn(x); h.squeeze(0)|h = self.rnn(x)[1]; h[0]} where rnn = nn.GRU(D, E, batch_first=True)
{y, (h, c) = self.rnn(x); h[-1]|_, (h, _) = self.rnn(x); h.squeeze(0)} where rnn = nn.LSTM(D, E, num_layers=1, batch_first=True)
y, h = self.rnn(x); {y|torch.cat([h[-2], h[-1]], 1)} where rnn = nn.GRU(D, E, {1|2}, batch_first=True, bidirectional=True)
y, h = self.rnn(x.transpose(0, 1)); y.transpose(0, 1) where rnn = nn.{GRU|LSTM}(D, E{|, num_layers=2|, bias=False})
*{y, _ = self.att(x, x, x)|y, w = self.att(x, x, x, need_weights=False)|y = self.att(query=x, key=x, value=x)[0]}; {y|x + y}
y, w = self.att(x, x, x, attn_mask={self.causal|torch.triu(torch.ones(T, T), 1).bool()|torch.zeros(H, T, T)}{|, need_weights=False}); y
y, _ = self.att(x, x, x, key_padding_mask={self.odd[None].bool()|torch.arange(T)[None] > 2}); y
m = x.abs().sum(-1); m = m < m.mean(); {y, _ = self.att(x, x, x, key_padding_mask=m); y|self.e(x, src_key_padding_mask=m)} where
  e = nn.TransformerEncoderLayer(D, H, E, batch_first=True)
m = {x|self.up(x)}; y, _ = self.att(x, m, m); y where att = nn.MultiheadAttention(D, H, kdim=E, vdim=E{|, add_bias_kv=True|,
  add_zero_attn=True}, batch_first=True)
y, _ = self.att({self.one|self.one.expand(x.size(0), -1, -1)|self.one.repeat(1, K, 1)}, x, x); {y|y.squeeze(1)}
y, _ = self.att(*[x.transpose(0, 1)] * 3); y.transpose(0, 1) where att = nn.MultiheadAttention(D, H)
*q, k, v = {self.q(x), self.k(x), self.v(x)|self.qkv(x).chunk(3, dim=-1)|self.qkv(x).split(D, dim=-1)}; s = {q @ k.transpose(-2, -1)|
  torch.bmm(q, k.transpose(1, 2))|q @ k.mT|torch.matmul(q, k.transpose(1, 2))|torch.einsum("bqd,bkd->bqk", q, k)};
  {s = s / math.sqrt(D)|s = s * D**-0.5|s = s / q.size(-1) ** 0.5|s /= D**0.5}; {|s = s.masked_fill(self.causal, float("-inf"));|
  s = s + self.causal * -1e9;|s = s.masked_fill(torch.triu(torch.ones(T, T), diagonal=1).bool(), -torch.inf);}
  w = {F.softmax(s, dim=-1)|torch.softmax(s, -1)|s.softmax(-1)}; {w @ v|torch.bmm(w, v)|torch.einsum("bqk,bkd->bqd", w, v)}
*b, t, d = x.shape; q, k, v = {[f(x).view(b, t, H, -1).transpose(1, 2) for f in (self.q, self.k, self.v)]|
  self.qkv(x).view(b, t, 3, H, d // H).permute(2, 0, 3, 1, 4)|(y.view(b, t, H, d // H).transpose(1, 2) for y in
  self.qkv(x).chunk(3, -1))|self.qkv(x).reshape(b, t, 3, H, -1).permute(2, 0, 3, 1, 4).unbind(0)}; {w = q @ k.transpose(-2, -1) *
  (d // H) ** -0.5; y = w.softmax(-1) @ v|y = F.scaled_dot_product_attention(q, k, v)|w = torch.einsum("bhqd,bhkd->bhqk", q, k) /
  math.sqrt(d // H); y = torch.einsum("bhqk,bhkd->bhqd", torch.softmax(w + self.mask, -1), v)|w = (q @ k.mT / math.sqrt(q.size(-1)));
  w = w.masked_fill(self.mask[:t, :t] == 0, float("-inf")); y = self.drop(F.softmax(w, dim=-1)) @ v};
  self.o({y.transpose(1, 2).contiguous().view(b, t, d)|y.transpose(1, 2).reshape(b, t, d)|y.permute(0, 2, 1, 3).flatten(2)})
  where mask = B(torch.tril(torch.ones(T, T)))
q = self.q(x); s = q @ q.mT / {self.number|self.number.abs()|self.number.exp()}; (s{| + self.r}).softmax(-1) @ x where r = P(T, T)
*self.e(x{|, src_mask=self.causal|, self.causal}) where e = nn.TransformerEncoderLayer(D, H, E, batch_first=True{|,
  norm_first=True|, activation="gelu"|, dropout=0.0})
*self.e(x) where e = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, H, E, batch_first=True{|, norm_first=True}), num_layers={1|2}{|,
  norm=nn.LayerNorm(D)}{|, enable_nested_tensor=False})
self.d({x, self.one|x, self.one.expand(x.size(0), -1, -1)|x[:, :2], x|x, x, tgt_mask=self.causal}) where
  d = nn.TransformerDecoderLayer(D, H, E, batch_first=True{|, norm_first=True})
self.d(self.pos, x) where d = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, H, E, batch_first=True), 1)
for f in self.layers: x = {F.relu(f(x))|x + f(x)|x + torch.tanh(f(x))}; x
for i, f in enumerate(self.layers): x = f(x) if i else F.relu(f(x)); x
assert x.dim() == 3 and x.shape[-1] == D; {if x.size(1) > 3: x = x[:, :3]|b, t, d = x.size(); x = x.view(b * t, d).view(b, t, d)}; x * 2
y = self.net["first"](x); y + self.net["new"](y) where net = nn.ModuleDict(dict(first=nn.Linear(D, E), new=nn.Linear(E, E)))
"""

ROW = """
*{self.fc(x)|self.up(x)|self.head(x)|self.down({F.relu|F.gelu|torch.tanh|F.silu}(self.up(x)))|self.head(F.relu(self.fc(x)))}
*self.net(x) where net = nn.Sequential(nn.Linear(D, E), nn.{ReLU|Sigmoid|Tanh|GELU}(), nn.Linear(E, K))
{self.n(x)|self.n(self.fc(x))|self.fc(self.n(x))|self.norm(x)} where n = nn.BatchNorm1d(D)
(x - self.mean) / {self.std|(self.std + 1e-5)|torch.sqrt(self.std + 1e-5)} where mean = B(D); std = B(torch.rand(D) + 0.5)
{F.normalize(x, dim=-1)|x / x.norm(dim=1, keepdim=True)|x / (x.abs().sum(-1, keepdim=True) + 1e-3)}
{x.unsqueeze(1)|x[:, None]|x.view(1, 1, -1)|x.unsqueeze(-1)|x.reshape(1, D // 2, 2)|x[..., None]}
{x[:, :, None] * x[:, None, :]|x.unsqueeze(2) @ x.unsqueeze(1)|torch.einsum("bi,bj->bij", x, x)|torch.bmm(x[:, :, None], x[:, None])}
torch.cat({[x, x**2]|(x, x.mean(-1, keepdim=True))|[x, self.p]|[x, torch.sin(self.p)]}, {-1|dim=1}) where p = P(1, 3)
{x.mean(-1, keepdim=True)|x.sum(1, keepdim=True)|x.max(-1, True)[0]|x.sum(dim=-1)|x.max(1)[0]|torch.logsumexp(x, 1, keepdim=True)}
{a, b = x.chunk(2, dim=-1)|a, b = x[:, : D // 2], x[:, D // 2 :]|a, b = x.split(D // 2, 1)}; {a * b|a * b.sigmoid()|torch.cat([b, a], -1)}
{(x * self.gain).sum(-1, keepdim=True)|x @ self.gain|x.matmul(self.m)|torch.mv(self.m.t(), x[0])[None]|
  torch.addmm(self.offset, x, self.m)|-((x[:, None] - self.c) ** 2).sum(-1)|torch.cdist(x, self.c)} where m = P(D, E); c = P(4, D)
"""

IMAGE = """
*self.conv(x) where conv = nn.Conv2d(C, E, {3|3, padding=1|1|(3, 1), padding=(1, 0)|2, stride=2|3, stride=2, padding=1|3, padding="same"})
*F.relu(self.n(self.conv(x))) where conv = nn.Conv2d(C, E, 3, padding=1, bias=False); n = nn.BatchNorm2d(E)
self.b(F.relu6(self.a(x))) where a = nn.Conv2d(C, C, 3, padding=1, groups=C); b = nn.Conv2d(C, E, 1)
*{F.max_pool2d(x, 2)|self.p(x)|F.avg_pool2d(x, 2)|F.adaptive_avg_pool2d(x, 2)} where p = nn.{MaxPool2d(2)|AvgPool2d(2)|
  MaxPool2d(3, stride=2, padding=1)|AdaptiveAvgPool2d(2)|MaxPool2d((2, 1))}
*{x.mean((2, 3))|x.mean(dim=[-2, -1])|x.amax(dim=(-2, -1))|x.flatten(2).mean(-1)|F.adaptive_avg_pool2d(x, 1).flatten(1)|
  self.p(x).view(x.size(0), -1)|self.p(x).squeeze(-1).squeeze(-1)|x.sum((2, 3))} where p = nn.AdaptiveAvgPool2d({1|(1, 1)})
*{x.flatten(2).transpose(1, 2)|x.view(1, x.size(1), -1).permute(0, 2, 1)|torch.flatten(x, 2).mT|x.permute(0, 2, 3, 1).flatten(1, 2)|
  x.flatten(1)|x.view(x.size(0), -1)|torch.flatten(x, 1)|x.reshape(1, -1)}
{self.n(x)|self.b(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)} where n = nn.{BatchNorm2d(C)|GroupNorm(1, C)|InstanceNorm2d(C)};
  b = nn.{LayerNorm(C)|Linear(C, E)}
x * torch.sigmoid(self.a(x.mean({(2, 3)|dim=(2, 3)|[2, 3]}))){[:, :, None, None]|.unsqueeze(-1).unsqueeze(-1)|.view(1, -1, 1, 1)}
  where a = nn.Linear(C, C)
x + self.b(F.relu(self.a(x))) where a = nn.Conv2d(C, E, 3, padding=1); b = nn.Conv2d(E, C, 3, 1, 1)
{F.pad(x, (1, 1, 1, 1))|x.flip(-1)|torch.roll(x, 1, 2)|x[:, :, ::2, ::2]|x[:, :, 1:-1]|x.transpose(2, 3)|torch.cat([x, x * x], 1)}
"""

TOKENS = """
*{self.emb(x)|F.embedding(x, self.w)|self.w[x]|F.one_hot(x, V).float() @ self.w|self.emb(x) * {math.sqrt(D)|D**0.5}} where w = P(V, D)
*self.emb(x) + {self.pos|self.pos[:, : x.size(1)]|self.p(torch.arange(x.size(1)))|self.p(torch.arange(x.size(1)).unsqueeze(0))|
  self.p.weight[:T]} where p = nn.Embedding(T + 2, D)
*h = self.emb(x); {self.head(self.norm(h))|self.head(F.gelu(self.fc(h)))|h @ self.emb.weight.{T|t()}}
m = {(x != 0).unsqueeze(-1).float()|x.ne(0)[..., None].to(torch.float32)}; (self.emb(x) * m).sum(1) / m.sum(1).clamp(min=1)
"""

WAVE = """
f = x.unfold(1, 16, 8){| * self.window}; {p = (f @ self.c) ** 2 + (f @ self.s) ** 2|p = torch.fft.rfft(f).abs() ** 2|
  p = torch.fft.rfft(f).abs().pow(2)|y = torch.fft.rfft(f, dim=-1); p = y.real**2 + y.imag**2}; {torch.log(p @ self.mel + 1e-3)|
  (p @ self.mel).clamp(min=1e-3).log()|torch.log10(torch.clamp(p @ self.mel, min=1e-3))}
  where c = B(16, 9); s = B(16, 9); mel = B(torch.rand(9, 5))
p = torch.stft(x, {16, 8|n_fft=16, hop_length=8}, window=self.window, return_complex=True{|, center=False}).abs(){ ** 2|.pow(2)};
  {torch.log(self.mel @ p + 1e-3)|(self.mel @ p).clamp(min=1e-3).log().transpose(1, 2)} where mel = B(torch.rand(5, 9))
F.relu(self.conv(x.unsqueeze(1))).transpose(1, 2) where conv = nn.Conv1d(1, E, 8, stride=4)
{x.view(1, 8, 8)|x.unfold(1, 8, 4)|x.reshape(1, -1, 16)|x.unfold(-1, 16, 8) - x.mean(-1).view(1, 1, 1)}
y = torch.cat([x[:, :1], x[:, 1:] - 0.97 * x[:, :-1]], dim=1); y.unfold(1, 16, 8) * self.window
"""

REFUSED = """
x if {x.sum() > 0|x.mean() > x.sum()|x.max() > 0.5|(x > 0).any()|torch.all(x > 0)} else -x
{x + torch.{rand(1)|randn_like(x)|rand_like(x)|randn(x.shape[-1])|normal(0.0, 1.0, (1,))}|F.dropout(x, {0.5|p=0.3})}
{self.count += 1; x * self.count|y = x + self.count; self.count = {x.detach()|x}; y} where count = {0|B(1)}
{x * x.max().item()|x * float(x.sum())|x * x[0].sum().tolist()|x * x.detach().numpy().max().item()|x * x.argmax().item()}
{x[x > 0].sum() + x|x * len(torch.nonzero(x > 0))|x + torch.unique(x).sum()|x.abs() ** int(x.abs().sum())|x * torch.numel(x[x > 0])}
"""
