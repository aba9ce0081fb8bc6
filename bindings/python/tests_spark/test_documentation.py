"""What the documentation shows runs, and every public item has docs."""

import inspect
import pathlib
import subprocess
import sys

import equibloom.spark
import pytest

README = pathlib.Path(__file__).parents[1] / "README.md"


def test_the_examples_of_the_readme_run(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    section = README.read_text().split("\n## Spark\n")[1].split("\n## ")[0]
    blocks = [block.split("```")[0] for block in section.split("```python\n")[1:]]
    lake = str(tmp_path / "lake")
    spark.range(0, 10_000, numPartitions=5).withColumnRenamed("id", "customer_id").write.parquet(lake)
    names = {
        "spark": spark,
        "lake": lake,
        "orders": spark.range(0, 1000).selectExpr("id * 3 as customer_id", "id as order"),
        "visits": spark.range(0, 5000).selectExpr("id as customer_id", "id * 2 as visit"),
    }
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)
    assert 1000 <= names["known"].count() <= 1000 + 4 + 4 * 2
    assert names["joined"].count() == 1000
    assert names["rows"].count() == 1


@pytest.mark.parametrize("name", equibloom.spark.__all__)
def test_every_public_item_has_docs(name):
    item = getattr(equibloom.spark, name)
    assert len(inspect.getdoc(item)) > 40
    if inspect.isclass(item):
        for member, value in vars(item).items():
            if not member.startswith("_") and callable(value):
                assert len(inspect.getdoc(value) or "") > 10, f"{name}.{member}"


def test_the_model_is_printed():
    command = [sys.executable, "-m", "equibloom.spark", "--keys", "1e7", "--rate", "0.001", "--executors", "1000"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    model = equibloom.spark.scale(10**7, 0.001, executors=1000)
    assert "2000 → 125 → 8 → 1" in printed and f"{model.filter:,} bytes" in printed
