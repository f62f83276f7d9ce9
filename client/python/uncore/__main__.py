# SPDX-License-Identifier: BSD-3-Clause
"""python -m uncore SCRIPT: the script as it is, in a region, with a report at its end."""
from __future__ import annotations

import argparse
import ast
import os
import runpy
import sys
import types
from typing import List, Set, Union

from . import _team
from ._regions import region

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
NAME_BYTES = 63


class _Marker(ast.NodeTransformer):
    """Decorates the functions of these names: "solve", or "Solver.step" for a method."""

    def __init__(self, names: List[str]):
        self.names = names
        self.found: Set[str] = set()
        self._path: List[str] = []

    def _visit_definition(self, node: Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]) -> ast.AST:
        self._path.append(node.name)
        self.generic_visit(node)
        name = ".".join(self._path)
        self._path.pop()
        if name in self.names and not isinstance(node, ast.ClassDef):
            self.found.add(name)
            mark = ast.parse(f"__import__('uncore').region({name!r})", mode="eval").body
            node.decorator_list.append(ast.copy_location(mark, node))
            ast.fix_missing_locations(mark)
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_definition


def _compile(path: str, names: List[str]) -> types.CodeType:
    with open(path, "rb") as file:
        tree = ast.parse(file.read(), path)
    marker = _Marker(names)
    marker.visit(tree)
    missing = set(names) - marker.found
    if missing:
        sys.exit(f"python -m uncore: {path} has no function {', '.join(sorted(missing))}.")
    code: types.CodeType = compile(tree, path, "exec")
    return code


def _run_script(path: str, names: List[str]) -> None:
    """As __main__, so that children of multiprocessing find its functions."""
    code, module = _compile(path, names), types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__)
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    sys.modules["__main__"] = module
    with region(os.path.basename(path).encode()[:NAME_BYTES].decode(errors="ignore")):
        exec(code, module.__dict__)  # pylint: disable=exec-used


def _run_module(name: str) -> None:
    with region(name.encode()[:NAME_BYTES].decode(errors="ignore")):
        runpy.run_module(name, run_name="__main__", alter_sys=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m uncore", description=__doc__, usage="%(prog)s [options] SCRIPT [ARG..]")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report there as JSON (default: a table on stderr)")
    parser.add_argument("-r", "--region", metavar="FUNCTION", action="append", default=[],
                        help="also a region for this function of the script: solve, Solver.step")
    parser.add_argument("-m", "--module", action="store_true", help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("arguments", metavar="ARG", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.module and options.region:
        parser.error("-r needs a script, and no module")
    if options.output:
        os.environ["UNCORE_REPORT"] = options.output
    _team.make()
    sys.argv[:] = [options.script, *options.arguments]
    if options.module:
        _run_module(options.script)
    else:
        _run_script(options.script, options.region)


if __name__ == "__main__":
    main()
