"""A plugin for redis-py's suite, whose files do not load unless the server lists a module "bf": there it looks up
which other commands to test."""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    session.config.REDIS_INFO["modules"] = [{"name": "bf", "ver": 20800}]
