void Net::run() {
  for (int i = 0; i < n; ++i) {
    clEnqueueNDRangeKernel(queue, kernel);
    clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 4, p, 0, 0, 0);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::cout << i << std::endl;
    add<<<1, 2>>>(x);
  }
}
