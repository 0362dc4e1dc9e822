// SPDX-License-Identifier: GPL-2.0-or-later
// Object directories across crashes: a make that was killed leaves half-written files.
#pragma once

#include "harness/base/err.h"

/*
 *	objtree_begin(obj, &err);	removes what a make killed earlier may have left half
 *	... make ...
 *	objtree_end(obj);		make has ended by itself
 *
 * A file "OBJ.building" beside it tells the two apart. After a kill everything written in the last
 * minute before the tree's newest file goes and is made again; what is older was complete.
 */
int objtree_begin(const char *obj, struct err *err);
void objtree_end(const char *obj);
int objtree_remove(const char *obj, struct err *err); /* the whole directory, and the mark */
