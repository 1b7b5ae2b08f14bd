/* Files of other programs, known by their first bytes: not read, but named. */
#include <string.h>

#include "data/readers.h"

typedef struct foreign {
    const char *bytes;
    size_t size, offset;
    const char *name, *advice;
} foreign;

static const char TABLE[] = "write the table as CSV, or give it to the Python package as a DataFrame";
static const char UNPACK[] = "unpack it first (gzip is read as it is)";

#define BYTES(text) (text), sizeof(text) - 1
static const foreign KNOWN[] = {
    {BYTES("PAR1"), 0, "a Parquet file", TABLE},
    {BYTES("ARROW1"), 0, "an Arrow (Feather) file", TABLE},
    {BYTES("FEA1"), 0, "a Feather file", TABLE},
    {BYTES("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), 0, "an old Excel file (.xls)", "save the sheet as CSV"},
    {BYTES("[Content_Types].xml"), 30, "an Excel file", "save the sheet as CSV"},
    {BYTES("_rels/.rels"), 30, "an Excel file", "save the sheet as CSV"},
    {BYTES("xl/"), 30, "an Excel file", "save the sheet as CSV"},
    {BYTES("docProps/"), 30, "an Excel file", "save the sheet as CSV"},
    {BYTES("mimetypeapplication/vnd.oasis"), 30, "an OpenDocument file", "save the sheet as CSV"},
    {BYTES("\x89HDF\r\n\x1A\n"), 0, "an HDF5 file", "write the table as CSV or .npy"},
    {BYTES("MATLAB 7.3 MAT-file"), 0, "a MATLAB file of version 7.3 (HDF5)", "write it as CSV: writematrix"},
    {BYTES("MATLAB 5.0 MAT-file"), 0, "a MATLAB file", "write it as CSV (writematrix, writetable)"},
    {BYTES("RDX"), 0, "a file of R's save()", "write the table by write.csv(.., row.names = FALSE)"},
    {BYTES("RDA"), 0, "a file of R's save()", "write the table by write.csv(.., row.names = FALSE)"},
    {BYTES("X\n\0\0\0"), 0, "a file of R's saveRDS()", "write the table by write.csv(.., row.names = FALSE)"},
    {BYTES("\x80\x03"), 0, "a Python pickle", "write the table as CSV or .npy"},
    {BYTES("\x80\x04\x95"), 0, "a Python pickle", "write the table as CSV or .npy"},
    {BYTES("\x80\x05\x95"), 0, "a Python pickle", "write the table as CSV or .npy"},
    {BYTES("SQLite format 3"), 0, "an SQLite database", "export the table as CSV"},
    {BYTES("<!DOCTYPE"), 0, "a web page (HTML)", "the download may have failed: look at it in a browser"},
    {BYTES("<html"), 0, "a web page (HTML)", "the download may have failed: look at it in a browser"},
    {BYTES("%PDF"), 0, "a PDF document", "give the table as CSV"},
    {BYTES("BZh"), 0, "packed by bzip2", UNPACK},
    {BYTES("\3757zXZ"), 0, "packed by xz", UNPACK},
    {BYTES("\x28\xB5\x2F\xFD"), 0, "packed by zstd", UNPACK},
    {BYTES("7z\xBC\xAF"), 0, "a 7-Zip archive", UNPACK},
    {BYTES("\xFF\xFE"), 0, "text in UTF-16", "save it as UTF-8"},
    {BYTES("\xFE\xFF"), 0, "text in UTF-16", "save it as UTF-8"},
};

stonet_status sn_refuse_foreign(const char *path, const unsigned char *magic, size_t size)
{
    for (size_t k = 0; k < sizeof KNOWN / sizeof *KNOWN; k++) {
        const foreign *known = &KNOWN[k];
        if (known->offset > 0 && (size < 4 || memcmp(magic, "PK\x03\x04", 4) != 0)) continue;
        if (size < known->offset + known->size) continue;
        if (memcmp(magic + known->offset, known->bytes, known->size) == 0)
            return sn_fail(STONET_ERROR_FORMAT, "%s is %s, which is not read: %s", path, known->name,
                           known->advice);
    }
    return STONET_OK;
}
