"""Writes the small array files that test_read_arrays.c reads, with NumPy. Run in this folder."""
import gzip
import struct

import numpy as np

table = np.arange(12).reshape(3, 4) - 3.5          # row i, column j holds 4 i + j - 3.5
whole = np.arange(12).reshape(3, 4)
cube = np.arange(24).reshape(2, 3, 4)

np.save("f4.npy", table.astype("<f4"))
np.save("f8_big_fortran.npy", np.asfortranarray(table.astype(">f8")))
np.save("i2_big.npy", (whole - 4).astype(">i2"))
np.save("i8.npy", (whole - 4).astype("<i8"))
np.save("u1_cube.npy", cube.astype("u1"))
np.save("u4_cube_fortran.npy", np.asfortranarray(cube.astype("<u4")))
np.save("bool.npy", whole % 2 == 1)
np.save("text.npy", np.array(["a", "b"]))
np.save("complex.npy", table.astype("c8"))
np.save("scalar.npy", np.float32(3))
np.save("empty.npy", np.zeros((0, 4), "<f4"))
np.save("nan.npy", np.where(whole == 6, np.nan, table).astype("<f4"))
np.save("wide.npy", np.where(whole == 6, 1e39, table))
for version in (2, 3):
    with open(f"v{version}.npy", "wb") as file:
        np.lib.format.write_array(file, table.astype("<f4"), version=(version, 0))
np.savez("xy.npz", x=table, y=np.array([1, 0, 1], "i1"))
np.savez_compressed("packed.npz", X=table.astype("f4"), targets=table[:, :2], other=cube)
np.savez("lone.npz", something=table)
np.savez("two.npz", one=table, two=table)
np.savez("sparse.npz", data=table[0], indices=whole[0], indptr=whole[0], shape=np.array([3, 4]), format=np.array(b"csr"))
with open("images.idx", "wb") as file:
    file.write(bytes([0, 0, 8, 3]) + struct.pack(">3I", *cube.shape) + cube.astype("u1").tobytes())
with gzip.GzipFile("shorts.idx.gz", "wb", mtime=0) as file:
    file.write(bytes([0, 0, 0x0B, 2]) + struct.pack(">2I", *whole.shape) + (whole - 4).astype(">i2").tobytes())
with open("doubles.idx", "wb") as file:
    file.write(bytes([0, 0, 0x0E, 2]) + struct.pack(">2I", *table.shape) + table.astype(">f8").tobytes())
