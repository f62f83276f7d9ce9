/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of MPI that communicate, wait, move data or are collective. Names, as in C and in
 * Fortran. Those that only ask or describe something are not inside of MPI.
 */
#pragma once

/* clang-format off */
#define POINT_TO_POINT(CALL) \
	CALL(Send, send) CALL(Bsend, bsend) CALL(Ssend, ssend) CALL(Rsend, rsend) \
	CALL(Recv, recv) CALL(Isend, isend) CALL(Ibsend, ibsend) CALL(Issend, issend) \
	CALL(Irsend, irsend) CALL(Irecv, irecv) CALL(Sendrecv, sendrecv) \
	CALL(Sendrecv_replace, sendrecv_replace) CALL(Isendrecv, isendrecv) \
	CALL(Isendrecv_replace, isendrecv_replace) CALL(Probe, probe) CALL(Mprobe, mprobe) \
	CALL(Mrecv, mrecv) CALL(Imrecv, imrecv) \
	CALL(Start, start) CALL(Startall, startall) CALL(Wait, wait) CALL(Waitall, waitall) \
	CALL(Waitany, waitany) CALL(Waitsome, waitsome) CALL(Buffer_detach, buffer_detach) \
	CALL(Pready, pready) CALL(Pready_range, pready_range) CALL(Pready_list, pready_list) \
	CALL(Pack, pack) CALL(Unpack, unpack) \
	CALL(Reduce_local, reduce_local)

/* They say at once whether something has come, so programs may call them millions of times a second. */
#define POLLS(CALL) \
	CALL(Iprobe, iprobe) CALL(Improbe, improbe) CALL(Test, test) CALL(Testall, testall) \
	CALL(Testany, testany) CALL(Testsome, testsome) CALL(Parrived, parrived) \
	CALL(Request_get_status, request_get_status) CALL(Win_test, win_test)

#define COLLECTIVE(CALL) \
	CALL(Barrier, barrier) CALL(Bcast, bcast) CALL(Gather, gather) CALL(Gatherv, gatherv) \
	CALL(Scatter, scatter) CALL(Scatterv, scatterv) CALL(Allgather, allgather) \
	CALL(Allgatherv, allgatherv) CALL(Alltoall, alltoall) CALL(Alltoallv, alltoallv) \
	CALL(Alltoallw, alltoallw) CALL(Reduce, reduce) CALL(Allreduce, allreduce) \
	CALL(Reduce_scatter, reduce_scatter) CALL(Reduce_scatter_block, reduce_scatter_block) \
	CALL(Scan, scan) CALL(Exscan, exscan) CALL(Ibarrier, ibarrier) CALL(Ibcast, ibcast) \
	CALL(Igather, igather) CALL(Igatherv, igatherv) CALL(Iscatter, iscatter) \
	CALL(Iscatterv, iscatterv) CALL(Iallgather, iallgather) CALL(Iallgatherv, iallgatherv) \
	CALL(Ialltoall, ialltoall) CALL(Ialltoallv, ialltoallv) CALL(Ialltoallw, ialltoallw) \
	CALL(Ireduce, ireduce) CALL(Iallreduce, iallreduce) \
	CALL(Ireduce_scatter, ireduce_scatter) CALL(Ireduce_scatter_block, ireduce_scatter_block) \
	CALL(Iscan, iscan) CALL(Iexscan, iexscan) CALL(Neighbor_allgather, neighbor_allgather) \
	CALL(Neighbor_allgatherv, neighbor_allgatherv) CALL(Neighbor_alltoall, neighbor_alltoall) \
	CALL(Neighbor_alltoallv, neighbor_alltoallv) CALL(Neighbor_alltoallw, neighbor_alltoallw) \
	CALL(Ineighbor_allgather, ineighbor_allgather) \
	CALL(Ineighbor_allgatherv, ineighbor_allgatherv) \
	CALL(Ineighbor_alltoall, ineighbor_alltoall) \
	CALL(Ineighbor_alltoallv, ineighbor_alltoallv) \
	CALL(Ineighbor_alltoallw, ineighbor_alltoallw)

#define COMMUNICATORS(CALL) \
	CALL(Init, init) CALL(Init_thread, init_thread) CALL(Session_init, session_init) \
	CALL(Comm_dup, comm_dup) CALL(Comm_dup_with_info, comm_dup_with_info) \
	CALL(Comm_idup, comm_idup) CALL(Comm_create, comm_create) \
	CALL(Comm_create_group, comm_create_group) CALL(Comm_split, comm_split) \
	CALL(Comm_split_type, comm_split_type) CALL(Comm_free, comm_free) \
	CALL(Comm_disconnect, comm_disconnect) CALL(Comm_accept, comm_accept) \
	CALL(Comm_connect, comm_connect) CALL(Comm_join, comm_join) CALL(Comm_spawn, comm_spawn) \
	CALL(Comm_spawn_multiple, comm_spawn_multiple) CALL(Intercomm_create, intercomm_create) \
	CALL(Intercomm_merge, intercomm_merge) CALL(Cart_create, cart_create) \
	CALL(Cart_sub, cart_sub) CALL(Graph_create, graph_create) \
	CALL(Dist_graph_create, dist_graph_create) \
	CALL(Dist_graph_create_adjacent, dist_graph_create_adjacent)

#define ONE_SIDED(CALL) \
	CALL(Put, put) CALL(Get, get) CALL(Accumulate, accumulate) \
	CALL(Get_accumulate, get_accumulate) CALL(Fetch_and_op, fetch_and_op) \
	CALL(Compare_and_swap, compare_and_swap) CALL(Rput, rput) CALL(Rget, rget) \
	CALL(Raccumulate, raccumulate) CALL(Rget_accumulate, rget_accumulate) \
	CALL(Win_create, win_create) CALL(Win_create_dynamic, win_create_dynamic) \
	CALL(Win_allocate, win_allocate) CALL(Win_allocate_shared, win_allocate_shared) \
	CALL(Win_free, win_free) CALL(Win_fence, win_fence) CALL(Win_post, win_post) \
	CALL(Win_start, win_start) CALL(Win_complete, win_complete) CALL(Win_wait, win_wait) \
	CALL(Win_lock, win_lock) CALL(Win_lock_all, win_lock_all) \
	CALL(Win_unlock, win_unlock) CALL(Win_unlock_all, win_unlock_all) \
	CALL(Win_flush, win_flush) CALL(Win_flush_all, win_flush_all) \
	CALL(Win_flush_local, win_flush_local) CALL(Win_flush_local_all, win_flush_local_all) \
	CALL(Win_sync, win_sync)

#define FILES(CALL) \
	CALL(File_open, file_open) CALL(File_close, file_close) CALL(File_sync, file_sync) \
	CALL(File_set_size, file_set_size) CALL(File_preallocate, file_preallocate) \
	CALL(File_set_view, file_set_view) CALL(File_read, file_read) \
	CALL(File_write, file_write) CALL(File_iread, file_iread) CALL(File_iwrite, file_iwrite) \
	CALL(File_read_at, file_read_at) CALL(File_write_at, file_write_at) \
	CALL(File_iread_at, file_iread_at) CALL(File_iwrite_at, file_iwrite_at) \
	CALL(File_read_all, file_read_all) CALL(File_write_all, file_write_all) \
	CALL(File_iread_all, file_iread_all) CALL(File_iwrite_all, file_iwrite_all) \
	CALL(File_read_at_all, file_read_at_all) CALL(File_write_at_all, file_write_at_all) \
	CALL(File_iread_at_all, file_iread_at_all) CALL(File_iwrite_at_all, file_iwrite_at_all) \
	CALL(File_read_shared, file_read_shared) CALL(File_write_shared, file_write_shared) \
	CALL(File_iread_shared, file_iread_shared) CALL(File_iwrite_shared, file_iwrite_shared) \
	CALL(File_read_ordered, file_read_ordered) CALL(File_write_ordered, file_write_ordered) \
	CALL(File_read_all_begin, file_read_all_begin) \
	CALL(File_write_all_begin, file_write_all_begin) \
	CALL(File_read_all_end, file_read_all_end) CALL(File_write_all_end, file_write_all_end) \
	CALL(File_read_at_all_begin, file_read_at_all_begin) \
	CALL(File_write_at_all_begin, file_write_at_all_begin) \
	CALL(File_read_at_all_end, file_read_at_all_end) \
	CALL(File_write_at_all_end, file_write_at_all_end) \
	CALL(File_read_ordered_begin, file_read_ordered_begin) \
	CALL(File_write_ordered_begin, file_write_ordered_begin) \
	CALL(File_read_ordered_end, file_read_ordered_end) \
	CALL(File_write_ordered_end, file_write_ordered_end)

#define CALLS(CALL) POINT_TO_POINT(CALL) COLLECTIVE(CALL) COMMUNICATORS(CALL) ONE_SIDED(CALL) FILES(CALL)

/* Behind them MPI has ended. */
#define LAST_CALLS(CALL) CALL(Finalize, finalize) CALL(Session_finalize, session_finalize)
/* clang-format on */
