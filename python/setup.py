"""Builds the C library with the project's own CMake and puts it into the wheel, beside the Python files."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent
BUILD = HERE / "build" / "cmake"


def version() -> str:
    header = (PROJECT / "include" / "stonet" / "stonet.h").read_text()
    found = re.findall(r"#define STONET_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    if len(found) != 3:
        raise RuntimeError("include/stonet/stonet.h does not say its version in three numbers")
    return ".".join(found)


def build_library() -> Path:
    jobs = os.environ.get("JOBS", str(os.cpu_count() or 1))
    configure = ["cmake", "-S", str(PROJECT), "-B", str(BUILD)]
    subprocess.run([*configure, "-DCMAKE_BUILD_TYPE=Release", "-DSTONET_PROGRAMS=OFF"], check=True)
    subprocess.run(["cmake", "--build", str(BUILD), "--target", "stonet_shared", "-j", jobs], check=True)
    return (BUILD / "lib" / "libstonet.so").resolve()


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        target = Path(self.build_lib) / "stonet" / "libstonet.so"
        if self.editable_mode:
            target = HERE / "src" / "stonet" / "libstonet.so"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(build_library(), target)


class PlatformDistribution(Distribution):
    """The wheel is for one platform, though no module in it is compiled."""

    def has_ext_modules(self) -> bool:
        return True


class AnyPythonWheel(bdist_wheel):
    """ctypes ties the library to the platform and to no version of Python."""

    def get_tag(self) -> "tuple[str, str, str]":
        return "py3", "none", super().get_tag()[2]


setup(
    version=version(),
    distclass=PlatformDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPythonWheel},
)
