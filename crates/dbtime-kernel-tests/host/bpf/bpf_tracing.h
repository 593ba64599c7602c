/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * In place of libbpf's: a program is a function with the arguments of its tracepoint.
 */
#ifndef DBTIME_HOST_BPF_TRACING_H
#define DBTIME_HOST_BPF_TRACING_H

#define BPF_PROG(name, arguments...) name(arguments)

/* What a program hands on of its surroundings: nothing here needs it. */
#define ctx NULL

#endif
