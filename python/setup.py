"""Builds the C library with the project's own CMake and puts it into the wheel, beside the Python files.

A source distribution carries the sources of the library in `library/`. With STONET_CARRY=1 in the environment a wheel
carries the libraries that it is linked to as well (OpenBLAS, Jansson, ..), for machines that do not have them.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
CARRIED = HERE / "library"  # the sources of the library, in a source distribution
PROJECT = CARRIED if CARRIED.is_dir() else HERE.parent
BUILD = HERE / "build" / "cmake"
CARRIES = os.environ.get("STONET_CARRY") == "1"
# What every Linux has, or must have of its own: the C library and its parts.
OF_THE_SYSTEM = ("linux-vdso", "ld-linux", "libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so")


def version() -> str:
    header = (PROJECT / "include" / "stonet" / "stonet.h").read_text()
    found = re.findall(r"#define STONET_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    if len(found) != 3:
        raise RuntimeError("include/stonet/stonet.h does not say its version in three numbers")
    return ".".join(found)


def build_library() -> Path:
    jobs = os.environ.get("JOBS", str(os.cpu_count() or 1))
    configure = ["cmake", "-S", str(PROJECT), "-B", str(BUILD), "-DCMAKE_BUILD_TYPE=Release", "-DSTONET_PROGRAMS=OFF"]
    if CARRIES:  # the old kind of path also holds for what the carried libraries need in turn
        configure += ["-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DCMAKE_INSTALL_RPATH=$ORIGIN/libs"]
        configure += ["-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--disable-new-dtags"]
    subprocess.run(configure, check=True)
    subprocess.run(["cmake", "--build", str(BUILD), "--target", "stonet_shared", "-j", jobs], check=True)
    return (BUILD / "lib" / "libstonet.so").resolve()


def carry_libraries(library: Path, folder: Path) -> None:
    """Copies what the library is linked to, and what that needs in turn, under the names it is looked for by."""
    folder.mkdir(parents=True, exist_ok=True)
    said = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout
    for name, path in re.findall(r"(\S+) => (/\S+)", said):
        if not name.startswith(OF_THE_SYSTEM):
            shutil.copyfile(path, folder / name)


class SourcesWithLibrary(sdist):
    """The sources of the library too: without them nobody could build it from the distribution."""

    def make_release_tree(self, base_dir: str, files: "list[str]") -> None:
        super().make_release_tree(base_dir, files)
        target = Path(base_dir) / "library"
        ignore = shutil.ignore_patterns("test_*.c", "golden", "scratch-method", "abi", "deb")
        for folder in ("include", "src", "cmake"):
            shutil.copytree(PROJECT / folder, target / folder, ignore=ignore, dirs_exist_ok=True)
        for file in ("CMakeLists.txt", "LICENSE"):
            shutil.copyfile(PROJECT / file, target / file)


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        target = Path(self.build_lib) / "stonet" / "libstonet.so"
        if self.editable_mode:
            target = HERE / "src" / "stonet" / "libstonet.so"
        target.parent.mkdir(parents=True, exist_ok=True)
        library = build_library()
        shutil.copyfile(library, target)
        if CARRIES:
            carry_libraries(library, target.parent / "libs")


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
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPythonWheel, "sdist": SourcesWithLibrary},
)
