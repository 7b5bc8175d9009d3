"""Command lines with options of every kind: an exit code of the contract, one JSON object, and nothing unforeseen."""

import json

import pytest
from fuzz.attack import FACTOR, attack, generator
from support import blobs

from fsopt.cli import main

CASES = 200
VERBS = (
    *("solve svm", "solve rlp", "solve gmeb-dual", "solve nothing", "fit svm", "fit gbd", "fit l1-mpm", "fit pearson"),
    *("export svm -o m.lp", "export rlp -o m.nl", "check fit.json", "predict fit.json", "show svm"),
    *("models", "solvers", "methods", "compare --methods svm,fisher --folds 2 --jobs 1", "x"),
    *("show fit.json", "study --store s.sqlite"),
)
TOKENS = (
    *("", "0", "1", "-1", "2.5", "nan", "inf", "1e300", "9" * 400, "x", "é", "\udcff", "a=b", "c=1", "c=[" * 2000),
    *("m=2", "m=-1", "m=9", "scale=none", "scale=x", "d.csv", "fit.json", "wdbc", "~nosuchuser/x", "n" * 300),
    *(".", "/", "nowhere/x", "/dev/null", "clarabel", "highs", "scip", "pyomo:x", "drop", "mean", "label", "--"),
)
OPTIONS = (
    *("--data", "--param", "--solver", "--time-limit", "--target", "--missing", "--options", "-o", "--scale", "--read"),
    *("--checkpoint", "--resume", "--folds", "--seed", "--jobs", "--methods", "--version", "--help", "--tee", "--no"),
    *("--verify", "--json", "--proof", "--exact"),
)


@pytest.mark.slow
def test_every_command_line_ends_as_promised(tmp_path, monkeypatch, capsys, in_process):
    data = blobs(14, 3, seed=6)
    rows = [",".join([*map(repr, x), str(int(y))]) for x, y in zip(data.X.tolist(), data.y, strict=True)]
    content = "\n".join(["a,b,c,label", *rows]) + "\n"
    (tmp_path / "d.csv").write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FSOPT_TRACEBACK", "1")  # what nobody foresaw is raised
    monkeypatch.delenv("FSOPT_DATA", raising=False)

    def run(arguments: list[str]) -> None:
        try:
            main(arguments)
        except SystemExit as stopped:
            code = stopped.code
        out, err = capsys.readouterr()
        assert code in (0, 1, 2), code
        assert "Traceback" not in err
        assert "Internal" not in err
        if "--json" in arguments and out and code != 2 and not {"--help", "--version", "--tee"} & set(arguments):
            json.loads(out)

    run(["fit", "svm", "--data", "d.csv", "-o", "fit.json"])
    fit = (tmp_path / "fit.json").read_text()

    def cases():
        for k in range(CASES * FACTOR):
            rng = generator(7, k)
            arguments = VERBS[rng.integers(len(VERBS))].split()
            if rng.integers(6):
                arguments += ["--data", "d.csv"]
            for _ in range(int(rng.integers(4))):
                arguments.append(OPTIONS[rng.integers(len(OPTIONS))])
                if rng.integers(6):
                    arguments.append(TOKENS[rng.integers(len(TOKENS))])
            arguments += ["--json"] * int(rng.integers(2))
            (tmp_path / "d.csv").write_text(content)  # the last command may have written over them
            (tmp_path / "fit.json").write_text(fit)
            yield f"{k} {arguments}", lambda arguments=arguments: run(arguments)

    attack(cases())
