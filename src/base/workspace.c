#include "base/workspace.h"

#include "base/memory.h"

enum { FIRST_ROOM = 8 };

void *sn_workspace_take(sn_workspace *workspace, size_t count, size_t size, bool zeroed)
{
    if (workspace->count == workspace->room) {
        const size_t room = workspace->room > 0 ? 2 * workspace->room : FIRST_ROOM;
        if (SN_GROW(workspace->block, room) != STONET_OK) return NULL;
        workspace->room = room;
    }
    void *block = zeroed ? sn_calloc(count, size) : sn_malloc(count, size);
    if (block != NULL) workspace->block[workspace->count++] = block;
    return block;
}

stonet_status sn_workspace_take_each(sn_workspace *workspace, size_t count, double **const *pointer,
                                     size_t pointers)
{
    for (size_t i = 0; i < pointers; i++) SN_TRY(SN_TAKE(workspace, *pointer[i], count));
    return STONET_OK;
}

void sn_workspace_free(sn_workspace *workspace)
{
    while (workspace->count > 0) sn_free(workspace->block[--workspace->count]);
    sn_free(workspace->block);
    *workspace = (sn_workspace){0};
}
