# SPDX-License-Identifier: MIT
"""Writes NAME.h and NAME.c, for C99: each part as a constant that the compiled library takes, tinyattn_decoder,
tinyattn_encoder, tinyattn_layer, tinyattn_convolution, a tinyattn_linear or an array, with its weights in arrays of
their own."""
import pathlib
import re

from . import header, names, rotary, whole_files
from .errors import ExportError, Spelling, printable
from .header import in_lines, number
from .matrices import StoredMatrix
from .storage import type_of

INT8 = Spelling("--weights int8", 'weights = "int8"')


class Definitions:
    """The content of NAME.c: arrays and structs, each before what points to it."""

    def __init__(self):
        self.texts = []

    def add(self, type_name, name, value, is_public=False):
        """Defines a constant, and returns its name."""
        self.texts.append(f"{'' if is_public else 'static '}const {type_name} {name} = {value};\n")
        return name

    def array(self, name, rows, type_name="float", text=None, is_public=False):
        size, values = sum(map(len, rows)), in_lines(rows, "  ", text)
        if type_name == "uint8_t":
            union = f"union {{\n  uint8_t codes[{size}];\n  uint32_t word; /* aligns them */\n}}"
            return self.add(union, name, f"{{{{\n{values}}}}}") + ".codes"
        self.add(type_name, f"{name}[{size}]", f"{{\n{values}}}", is_public)
        return name

    def matrix(self, name, matrix):
        """Defines the arrays of a matrix that is not of floats. Returns {member of a tinyattn_linear: its array}."""
        return {member: self.array(f"{name}_{member}", rows, type_name) for _, member, type_name, rows in matrix.arrays}

    def linear(self, name, tree):
        """Returns the members of a tinyattn_linear, or None if the layer is absent."""
        if tree is None:
            return None
        bias = {"bias": self.array(f"{name}_bias", tree["bias"])} if "bias" in tree else {}
        if isinstance(tree["weight"], StoredMatrix):
            return {**bias, **self.matrix(f"{name}_weight", tree["weight"])}
        return {"weight": self.array(f"{name}_weight", tree["weight"]), **bias}

    def linears(self, name, tree):
        return {role: self.linear(f"{name}_{role}", linear) for role, linear in tree.items()}

    def norm(self, name, tree):
        if tree is None:
            return None
        arrays = {role: self.array(f"{name}_{role}", tree[role]) for role in ("weight", "bias") if role in tree}
        return {**arrays, "epsilon": tree["epsilon"]}

    def blocks(self, name, trees):
        """Defines the blocks of a model, and returns their name."""
        blocks = []
        for i, tree in enumerate(trees):
            own = f"{name}_{i}"
            blocks.append({
                "attention_norm": self.norm(f"{own}_attention_norm", tree["attention_norm"]),
                **self.linears(own, tree["attention"]),
                "feed_forward_norm": self.norm(f"{own}_feed_forward_norm", tree["feed_forward_norm"]),
                **self.linears(own, tree["feed_forward"])})
        values = ",\n".join(f"  {initializer(block, '  ')}" for block in blocks)
        self.add("tinyattn_block", f"{name}[{len(blocks)}]", f"{{\n{values}}}")
        return name

    def positions(self, name, attention):
        """Defines the tables of rotary positions, and returns the members that have them."""
        if "rotary" not in attention:
            return {}
        head_dim, base = attention["d_out"] // attention["num_heads"], attention["rotary_base"]
        members = {"rotary": enumerator(attention["rotary"])}
        if "window" in attention:
            values = [rotary.speeds(head_dim, base)]
            return {**members, "speeds": self.array(f"{name}_speeds", values, "uint64_t", "UINT64_C({:#018x})".format)}
        tables = zip(("cosines", "sines"), rotary.tables(attention["context_length"], head_dim, base))
        return {**members, **{role: self.array(f"{name}_{role}", rows) for role, rows in tables}}


def enumerator(value):
    """Returns the enumerator in C of one in C++, such as ::tinyattn::Activation::relu."""
    return "TINYATTN_" + value.rpartition("::")[2].upper()


def initializer(value, indent=""):
    """Returns the initializer of a member in C. Members that are None are left out: they are 0 or null."""
    inner = indent + "  "
    if isinstance(value, dict):
        members = (f"{inner}.{name} = {initializer(member, inner)}"
                   for name, member in value.items() if member is not None)
        return "{\n" + ",\n".join(members) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value) if isinstance(value, float) else str(value)


def is_int8(config):
    return config.get("weights") == type_of("int8")


def kind(type_name, linear):
    """Returns the kind of weights that a struct of C names, whose linears are like this one."""
    return f"&{type_name}_{getattr(linear['weight'], 'weights', 'floats')}"


def integers(config, rows, *inputs):
    """Returns what int8 weights add to scratch, of rows with at most so many inputs."""
    return f" + TINYATTN_INTEGERS({rows}, {max(inputs)})" if is_int8(config) else ""


def refuse_streams(attention, what):
    """Raises an ExportError for what only a decoder has in C."""
    if "window" in attention:
        raise ExportError(f"in C {what} has no window, only a language model has: write a header of C++")
    if "cache" in attention:
        raise ExportError(f"in C {what} has no cache, only a language model has: write a header of C++")


# Each of the following functions defines a part. It returns the type of the constant, the functions that take it, its
# sizes as {macro: (value, comment)}, and the header that declares the type.


def layer(to, name, part):
    config = part.config
    refuse_streams(config, "a layer")
    members = {"kind": kind("tinyattn_layer", part.tree["query"]),
               **{member: config[member] for member in ("d_in", "d_out", "num_heads", "causal")},
               **to.linears(name, part.tree)}
    to.add("tinyattn_layer", name, initializer(members), is_public=True)
    d_in, d_out, tokens = config["d_in"], config["d_out"], config["context_length"]
    scratch = f"(TINYATTN_LAYER_SCRATCH({d_out}, {tokens}, {tokens}){integers(config, tokens, d_in, d_out)})"
    return ("tinyattn_layer", "tinyattn_forward, tinyattn_cross_forward",
            {"CONTEXT_LENGTH": (tokens, "the most tokens"), "D_IN": (d_in, ""), "D_OUT": (d_out, ""),
             "SCRATCH": (scratch, "floats")}, "tinyattn")


def sizes_of(block, num_layers):
    """Returns the members that a decoder and an encoder have of the config of their blocks."""
    attention, feed_forward = block["attention"], block["feed_forward"]
    heads = attention["num_heads"]
    return {"context_length": attention["context_length"], "d_model": attention["d_out"],
            "d_hidden": feed_forward["d_hidden"], "num_layers": num_layers, "num_heads": heads,
            "num_kv_heads": attention.get("num_kv_heads", heads), "activation": enumerator(feed_forward["activation"]),
            "norm_first": block["norm_first"]}


def encoder(to, name, part):
    is_block = "block" not in part.config
    block, trees = (part.config, [part.tree]) if is_block else (part.config["block"], part.tree["blocks"])
    attention = block["attention"]
    refuse_streams(attention, "an encoder")
    sizes = sizes_of(block, len(trees))
    members = {"kind": kind("tinyattn_encoder", trees[0]["attention"]["query"]), **sizes, "causal": attention["causal"],
               "blocks": to.blocks(f"{name}_blocks", trees),
               "final_norm": None if is_block else to.norm(f"{name}_final_norm", part.tree["final_norm"]),
               **to.positions(name, attention)}
    to.add("tinyattn_encoder", name, initializer(members), is_public=True)
    d_model, d_hidden, tokens = sizes["d_model"], sizes["d_hidden"], sizes["context_length"]
    kv_width = d_model // sizes["num_heads"] * sizes["num_kv_heads"]
    scratch = (f"(TINYATTN_ENCODER_SCRATCH({d_model}, {kv_width}, {d_hidden}, {tokens})"
               f"{integers(attention, tokens, d_model, d_hidden)})")
    return ("tinyattn_encoder", "tinyattn_encoder_forward",
            {"CONTEXT_LENGTH": (tokens, "the most tokens"), "D_MODEL": (d_model, ""), "SCRATCH": (scratch, "floats")},
            "tinyattn_encoder")


ONLY_IN_CPP = ("head_dim", "rotary_dim", "qk_norm", "parallel")


def embedding(to, name, tree):
    """Returns the members of a decoder that have its token embedding."""
    weight = tree["token_embedding"]["weight"]
    if isinstance(weight, StoredMatrix):
        return {f"token_{member}": array for member, array in to.matrix(f"{name}_token_embedding", weight).items()}
    return {"token_embedding": to.array(f"{name}_token_embedding", weight)}


def memory_of(sizes, attention):
    """Returns the macros of a decoder's cache and scratch."""
    has_cache = "cache" in attention
    if has_cache and not is_int8(attention):
        raise ExportError("in C a cache in int8 goes with weights in int8: say ", INT8, ", too")
    window, tokens = attention.get("window"), attention.get("window", sizes["context_length"])
    d_model, layers, heads = sizes["d_model"], sizes["num_layers"], sizes["num_kv_heads"]
    head_dim, group = d_model // sizes["num_heads"], sizes["num_heads"] // heads
    d_hidden = sizes["d_hidden"]
    if has_cache:
        scratch = (f"(TINYATTN_DECODER_SCRATCH({d_model}, {d_hidden}, {head_dim if window else 0}) + "
                   f"TINYATTN_CACHE_INTEGERS({max(d_model, d_hidden)}, {head_dim}, {tokens}))")
        cache = f"TINYATTN_INT8_CACHE({layers}, {heads}, {head_dim}, {tokens})"
        return {"CACHE": (cache, "words: uint32_t"), "SCRATCH": (scratch, "floats")}
    scores = f"TINYATTN_WINDOW_SCORES({window}, {head_dim}, {group})" if window else tokens
    scratch = f"(TINYATTN_DECODER_SCRATCH({d_model}, {d_hidden}, {scores}){integers(attention, 1, d_model, d_hidden)})"
    return {"CACHE": (f"TINYATTN_DECODER_CACHE({layers}, {heads * head_dim}, {tokens})", "floats"),
            "SCRATCH": (scratch, "floats")}


def decoder(to, name, part):
    transformer, tree = part.config["transformer"], part.tree
    block, attention = transformer["block"], transformer["block"]["attention"]
    alien = [member for member in ONLY_IN_CPP if member in (block | attention)]
    if alien:
        raise ExportError(f"in C a language model has no {alien[0]}: write a header of C++")
    sizes = sizes_of(transformer["block"], transformer["num_layers"])
    memory = memory_of(sizes, attention)
    positions = tree["position_embedding"]
    members = {
        "kind": kind("tinyattn_decoder", tree["token_embedding"]) + ("_cache" if "cache" in attention else ""),
        "vocabulary": part.vocabulary, **sizes, **embedding(to, name, tree),
        "position_embedding": positions and to.array(f"{name}_position_embedding", positions["weight"]),
        **to.positions(name, attention), "window": attention.get("window"),
        "blocks": to.blocks(f"{name}_blocks", tree["transformer"]["blocks"]),
        "final_norm": to.norm(f"{name}_final_norm", tree["transformer"]["final_norm"]),
        "head": to.linear(f"{name}_head", tree["head"])}
    to.add("tinyattn_decoder", name, initializer(members), is_public=True)
    return ("tinyattn_decoder", "tinyattn_decoder_forward, tinyattn_generate",
            {"VOCABULARY": (part.vocabulary, "logits"), "CONTEXT_LENGTH": (sizes["context_length"], ""), **memory},
            "tinyattn_models")


def begin_and_end(config, vocabulary):
    """Returns the macros of the tokens that begin and end a text, if a config.json names them."""
    tokens = {name: (config or {}).get(key) for name, key in (("BEGIN_OF_TEXT", "bos_token_id"),
                                                              ("END_OF_TEXT", "eos_token_id"))}
    tokens = {name: token[0] if isinstance(token, list) and token else token for name, token in tokens.items()}
    return {name: (token, "a token") for name, token in tokens.items()
            if type(token) is int and 0 <= token < vocabulary}


def linear(to, name, part):
    members = to.linear(name, part.tree)
    to.add("tinyattn_linear", name, initializer(members), is_public=True)
    takes = f"tinyattn_linear_forward with {kind('tinyattn_linear', part.tree)}"
    return "tinyattn_linear", takes, {}, "tinyattn"


def convolution(to, name, part):
    config = part.config
    if "groups" in config or "dilation" in config:
        raise ExportError(f"{name} has groups or a dilation, which a tinyattn_convolution in C has not")
    members = {"kind": kind("tinyattn_convolution", part.tree),
               **{member: config[member] for member in ("in", "out", "kernel", "stride", "padding")},
               "linear": to.linear(name, part.tree)}
    to.add("tinyattn_convolution", name, initializer(members), is_public=True)
    scratch = (f"TINYATTN_CONV1D_SCRATCH(tokens, {config['in'] * config['kernel']})",
               "floats, for so many tokens of out") if is_int8(config) else ("1", "not read, but no array has 0")
    return ("tinyattn_convolution", "tinyattn_conv1d",
            {"IN": (config["in"], ""), "OUT": (config["out"], ""), "SCRATCH(tokens)": scratch}, "tinyattn")


def tensor(to, name, part):
    to.array(name, part.tree, is_public=True)
    return f"float[{sum(map(len, part.tree))}]", "", {}, "tinyattn"


KINDS = {"MultiHeadAttention": layer, "TransformerBlock": encoder, "Transformer": encoder, "LanguageModel": decoder,
         "Linear": linear, "Conv1d": convolution, "Tensor": tensor}  # {the type in C++: how it is in C}


def called(name, part_name, parts):
    """Returns the name of a part in C: that of the model, if there is no other part."""
    return f"{name}_{part_name}" if len(parts) > 1 else name


def declaration(name, type_name, takes, macros):
    """Returns the declaration of a part in NAME.h, after what takes it, and its sizes."""
    of_array = re.fullmatch(r"(\w+)(\[\d+\])", type_name)
    declared = f"{of_array[1]} {name}{of_array[2]}" if of_array else f"{type_name} {name}"
    lines = [f"/* For {takes}. */"] if takes else []
    lines.append(f"extern const {declared};")
    for macro, (value, comment) in macros.items():
        lines.append(f"#define {name.upper()}_{macro} {value}" + (f" /* {comment} */" if comment else ""))
    return "\n".join(lines) + "\n"


def commented(lines):
    """Returns lines as a comment of C. No name in them can end it, or begin another one."""
    text = "\n".join(f" * {line}".rstrip() for line in lines).replace("*/", "*?")
    return "/*" + text[2:].replace("/*", "?*") + " */\n"


def check_names(wanted):
    for name in wanted:
        names.check_c(name)
    alike = {name.upper() for name in wanted}
    if len(alike) < len(wanted):
        raise ExportError(f"two parts have names that differ in capitals only: {', '.join(wanted)}")


def check_path(path):
    """Raises an ExportError if this is no NAME.h which NAME.c can include."""
    file_name = pathlib.Path(path).name
    if not re.fullmatch(r"[^\"\\]+[.]h", file_name) or printable(file_name) != file_name:
        raise ExportError(f"{printable(path)} must end with .h: in C there are two files, NAME.h and NAME.c")


def source_of(path):
    """Returns the path of NAME.c, next to NAME.h."""
    return str(pathlib.Path(path).with_suffix(".c"))


def write(path, weights, name, parts):
    """Writes `path`, NAME.h, and NAME.c next to it, and returns {name: Part}. If something is wrong, raises an
    ExportError and writes nothing."""
    check_path(path)
    requests, parts = parts, header.make_parts(weights, parts)
    check_names([called(name, part_name, parts) for part_name in parts])
    to, declarations, includes = Definitions(), [], set()
    for part_name, part in parts.items():
        define = KINDS[re.match(r"::tinyattn::(\w+)", part.type)[1]]
        own = called(name, part_name, parts)
        type_name, takes, macros, include = define(to, own, part)
        if part.vocabulary:
            macros |= begin_and_end(requests[part_name].config, part.vocabulary)
        declarations.append(declaration(own, type_name, takes, macros))
        includes.add(f'#include "tinyattn/{include}.h"\n')
    lines = header.comment_on_weights(weights, lambda part_name: called(name, part_name, parts), parts)
    file_name, guard = pathlib.Path(path).name, f"{name.upper()}_H"
    whole_files.replace({
        path: (f"{commented(lines)}#ifndef {guard}\n#define {guard}\n/* clang-format off */\n\n"
               f"{''.join(sorted(includes))}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{chr(10).join(declarations)}\n"
               f"#ifdef __cplusplus\n}}\n#endif\n\n#endif\n").encode(),
        source_of(path): (commented([f"What {file_name} declares, {header.PRODUCER}"]) + "/* clang-format off */\n"
                          f'#include "{file_name}"\n\n' + "\n".join(to.texts)).encode()})
    return parts
