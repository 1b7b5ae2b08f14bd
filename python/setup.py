"""Builds the C library with the project's own CMake and puts it into the wheel, beside the Python files.

A source distribution carries the sources of the library in `library/`. With STONET_CARRY=1 in the environment a wheel
carries the libraries that it is linked to as well (OpenBLAS, Jansson, ..) with their licences, for machines that do not
have them, and its name says the oldest C library it runs with.
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
# Beside the other builds of a checkout, so that a compiler cache knows the files by the same names.
BUILD = HERE / "build" / "cmake" if CARRIED.is_dir() else PROJECT / "build-python"
CARRIES = os.environ.get("STONET_CARRY") == "1"
# What every Linux has, or must have of its own: the C library and its parts, and the compiler's, which all libraries of a
# process share.
OF_THE_SYSTEM = ("linux-vdso", "ld-linux", "libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so", "libgcc_s.so")


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


def words_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def package_of(path: Path) -> str:
    """Debian's package with this file, which it may know by its place before /lib became /usr/lib."""
    whole = str(path.resolve())
    for place in (whole, whole.removeprefix("/usr")):
        asked = subprocess.run(["dpkg-query", "-S", place], capture_output=True, text=True)
        if asked.returncode == 0:
            return asked.stdout.split(":")[0]
    raise RuntimeError(f"no package has {path}: the licence of a library that is carried must be known")


def licences(paths: "list[Path]") -> str:
    """What Debian's packages of these files say of their licences, and the licences that this refers to."""
    packages = sorted({package_of(path) for path in paths})
    said = {package: Path("/usr/share/doc", package, "copyright").read_text() for package in packages}
    common = sorted(set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", "".join(said.values()))))
    said.update({name: Path("/usr/share/common-licenses", name).read_text() for name in common})
    return "".join(f"==== {name}\n\n{text}\n" for name, text in said.items())


def carry_libraries(library: Path, folder: Path) -> None:
    """Copies what the library is linked to, and what that needs in turn, under the names it is looked for by."""
    folder.mkdir(parents=True, exist_ok=True)
    linked = re.findall(r"(\S+) => (/\S+)", words_of("ldd", str(library)))
    carried = {name: Path(path) for name, path in linked if not name.startswith(OF_THE_SYSTEM)}
    for name, path in carried.items():
        shutil.copyfile(path, folder / name)
    (folder / "LICENSES").write_text(licences(list(carried.values())))


def oldest_glibc(libraries: "list[Path]") -> "tuple[int, int]":
    """The version of the C library that the newest of the symbols they ask for came with."""
    asked = words_of("objdump", "-T", *map(str, libraries))
    return max((int(major), int(minor)) for major, minor in re.findall(r"\bGLIBC_(\d+)\.(\d+)", asked))


class SourcesWithLibrary(sdist):
    """The sources of the library too: without them nobody could build it from the distribution."""

    def make_release_tree(self, base_dir: str, files: "list[str]") -> None:
        super().make_release_tree(base_dir, files)
        target = Path(base_dir) / "library"
        ignore = shutil.ignore_patterns("test_*.c", "golden", "scratch-method")
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
        platform = super().get_tag()[2]
        if CARRIES:  # pip then refuses an older system, where the library could not be loaded
            major, minor = oldest_glibc(sorted(Path(self.bdist_dir).rglob("*.so*")))
            platform = platform.replace("linux_", f"manylinux_{major}_{minor}_", 1)
        return "py3", "none", platform


setup(
    version=version(),
    distclass=PlatformDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPythonWheel, "sdist": SourcesWithLibrary},
)
