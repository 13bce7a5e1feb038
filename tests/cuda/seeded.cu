/* SPDX-License-Identifier: MIT
 *
 * Mistakes on purpose, each of which the emulation must find: the name of one is the argument. */
static __global__ void sum_up(const double *x, double *y, int n, int mistake)
{
	__shared__ double parts[32];
	double sum = 0;

	if (mistake == 8)
		y[-1 - (int) threadIdx.x] = 1;
	if (mistake != 4 || threadIdx.x != 3)
		parts[threadIdx.x] = x[threadIdx.x];
	if (mistake == 1)
		parts[threadIdx.x] += x[n + (int) threadIdx.x];
	if (mistake == 2)
		parts[threadIdx.x] += x[-1 - (int) threadIdx.x];
	if (mistake != 3 || threadIdx.x != 7)
		__syncthreads();
	if (mistake != 5 || threadIdx.x > 2)
		__syncwarp();
	for (int i = 0; i < n; i++)
		sum += parts[i];
	if (threadIdx.x == 0)
		*y = sum;
}

/* A sum that does not wait for what it adds up. */
static void sum_in_graph(double *x, double *y)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;

	cudaGraphCreate(&graph, 0);
	emulated::add_node(&node, graph, &node, 0, 1, 32, 0, [=] { x[threadIdx.x] = 1; });
	emulated::add_node(&node, graph, &node, 0, 1, 32, 0, [=] { sum_up(x, y, 32, 0); });
	cudaGraphInstantiateWithFlags(&exec, graph, 0);
	cudaGraphLaunch(exec, 0);
	cudaGraphExecDestroy(exec);
	cudaGraphDestroy(graph);
}

int main(int, char **arguments)
{
	static const char *const names[] = { "none", "outside", "before", "divergent", "shared", "warp", "host", "memory",
					     "writes", "graph" };
	double ones[32], sum = 0, *x = 0, *y = 0;
	cudaError_t error;
	int mistake = 0;

	while (strcmp(names[mistake], arguments[1]))
		mistake++;
	for (int i = 0; i < 32; i++)
		ones[i] = 1;
	if (mistake == 7)
		setenv("PMG_EMULATED_MEMORY", "100", 1);
	error = cudaMalloc(&x, sizeof ones);
	if (error == cudaSuccess)
		error = cudaMalloc(&y, sizeof *y);
	if (error == cudaSuccess) {
		if (mistake != 9)
			cudaMemcpyAsync(x, ones, sizeof ones, cudaMemcpyHostToDevice, 0);
		if (mistake == 9)
			sum_in_graph(x, y);
		else
			PMG_CUDA_START(sum_up, 1, 32, 0, 0, x, y, 32, mistake);
		error = cudaGetLastError();
	}
	if (error != cudaSuccess)
		return printf("%s\n", cudaGetErrorString(error)), 1;
	if (mistake == 6)
		*y = 1;
	cudaMemcpyAsync(&sum, y, sizeof sum, cudaMemcpyDeviceToHost, 0);
	printf("sum %g\n", sum);
	cudaFree(y);
	return 0;
}
