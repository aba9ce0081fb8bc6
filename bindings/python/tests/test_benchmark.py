"""The comparison with other packages runs, with few keys."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "benchmarks"))


def test_the_comparison_runs(tmp_path, capsys):
    import compare
    import engines

    compare.TUNED_WITH = 2_000
    data, picture = tmp_path / "run.json", tmp_path / "run.png"
    few = ["--keys", "5000", "--rates", "0.01", "--rounds", "1", "--scalars", "1000", "--threads", "20000"]
    compare.main([*few, "--json", str(data), "--picture", str(picture)])
    results = json.loads(data.read_text())
    names = {row["engine"] for row in results["columns"]}
    assert names == {engine.name for engine in engines.ALL}
    assert all(row["bytes_per_key"] > 0 and row["misses_ns"] >= 0 for row in results["columns"])
    ours = [row for row in results["columns"] if row["engine"] == "equibloom"]
    assert all(0 < row["measured_rate"] < 0.02 for row in ours)
    assert picture.stat().st_size > 1_000 and "| equibloom |" in capsys.readouterr().out
