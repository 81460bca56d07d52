// generate.cc: a fleet's week as files: long CSV of samples, sacct, and which job had which GPU.
//
// scan_generate FOLDER SAMPLES [GPUS] [JOBS_WITHOUT]: SAMPLES rows of GPUS (704) every 15 s, jobs
// one after the other on each host; JOBS_WITHOUT jobs more in a sacct of their own, no samples.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File create(const std::string& path) {
  File file(std::fopen(path.c_str(), "w"));
  if (!file) std::abort();
  std::setvbuf(file.get(), nullptr, _IOFBF, 1 << 20);
  return file;
}

// SplitMix64: the same files everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_{seed} {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

constexpr std::int64_t kStart = 1'700'000'000;
constexpr std::int64_t kCadence = 15;
constexpr int kGpusPerHost = 8;
constexpr const char* kHeader =
    "JobID|JobIDRaw|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|NNodes|NodeList|"
    "AllocTRES|JobName\n";

std::string iso(std::int64_t time) {  // Howard Hinnant's days to civil.
  const std::int64_t days = time / 86400;
  const std::int64_t second = time % 86400;
  const std::int64_t z = days + 719468;
  const std::int64_t era = z / 146097;
  const std::int64_t doe = z - era * 146097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::int64_t mp = (5 * doy + 2) / 153;
  const std::int64_t month = mp < 10 ? mp + 3 : mp - 9;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", yoe + era * 400 + (month <= 2 ? 1 : 0),
                     month, doy - (153 * mp + 2) / 5 + 1, second / 3600, second / 60 % 60,
                     second % 60);
}

struct Job {
  std::int64_t id, start, end;
  int host, first, gpus;
};

void write_job(std::FILE* sacct, const Job& job, Random& random) {
  const std::int64_t user = random.below(400);
  fmt::print(sacct,
             "{0}|{0}|u{1:03}|a{2:02}|gpu|{3}|{4}|{5}|{6}|{7}|1|gpu{8:04}|"
             "billing=8,cpu=6,gres/gpu:a100={9},gres/gpu={9},mem=48G,node=1|{10}\n",
             job.id, user, user % 11, random.below(8) == 0 ? "FAILED" : "COMPLETED",
             iso(job.start - random.below(3600)), iso(job.start), iso(job.end), job.end - job.start,
             job.host, job.gpus, fmt::format("train-{}", random.below(50)));
}

// Jobs of 1 to 8 GPUs and minutes to days, end to end with short pauses.
std::vector<Job> write_jobs(const std::string& folder, int hosts, std::int64_t end,
                            Random& random) {
  const File sacct = create(folder + "/sacct.txt");
  const File places = create(folder + "/gpu_alloc.csv");
  std::fputs(kHeader, sacct.get());
  std::fputs("jobid,host,gpu\n", places.get());
  std::vector<Job> jobs;
  std::int64_t id = 1000;
  for (int host = 0; host < hosts; ++host) {
    for (int first = 0; first < kGpusPerHost;) {
      const int width = first == 0 ? 4 : first == 4 ? 2 : 1;
      for (std::int64_t at = kStart - random.below(86400); at < end;) {
        const std::int64_t shape = random.below(100);
        const std::int64_t length =
            shape < 50 ? 60 + random.below(3600) : 3600 + random.below(shape < 90 ? 43200 : 259200);
        const Job job{id++, at, at + length, host, first, width};
        write_job(sacct.get(), job, random);
        for (int gpu = first; gpu < first + width; ++gpu) {
          fmt::print(places.get(), "{},gpu{:04},{}\n", job.id, host, gpu);
        }
        jobs.push_back(job);
        at += length + random.below(1800);
      }
      first += width;
    }
  }
  return jobs;
}

void write_samples(const std::string& folder, std::int64_t samples, int hosts, Random& random) {
  const File csv = create(folder + "/dcgm_long.csv");
  std::fputs("timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n", csv.get());
  const int gpus = hosts * kGpusPerHost;
  std::vector<int> level(static_cast<std::size_t>(gpus), 90);
  fmt::memory_buffer line;
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto gpu = static_cast<std::size_t>(i % gpus);
    const std::uint64_t luck = random.next();
    if (luck % 64 == 0)
      level[gpu] =
          static_cast<int>(luck >> 8) % 3 == 0 ? 0 : 40 + static_cast<int>((luck >> 16) % 55);
    const int noise = static_cast<int>((luck >> 24) % 7);
    const int value = level[gpu] == 0 ? 0 : level[gpu] + noise;
    line.clear();
    fmt::format_to(std::back_inserter(line), "{},gpu{:04},{},{}\n", kStart + i / gpus * kCadence,
                   gpu / kGpusPerHost, gpu % kGpusPerHost, value);
    std::fwrite(line.data(), 1, line.size(), csv.get());
  }
}

void write_jobs_without(const std::string& folder, std::int64_t count, Random& random) {
  const File sacct = create(folder + "/sacct_many.txt");
  std::fputs(kHeader, sacct.get());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t start = kStart + i / 20;
    const Job job{10'000'000 + i,
                  start,
                  start + 60 + random.below(86400),
                  static_cast<int>(random.below(2000)),
                  0,
                  1 << random.below(4)};
    write_job(sacct.get(), job, random);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: scan_generate FOLDER SAMPLES [GPUS] [JOBS_WITHOUT]\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const std::int64_t samples = std::atoll(argv[2]);
  const int gpus = argc > 3 ? std::atoi(argv[3]) : 704;
  const int hosts = gpus / kGpusPerHost;
  Random random(20260);
  if (argc > 4) write_jobs_without(folder, std::atoll(argv[4]), random);
  if (samples == 0) return 0;
  const std::int64_t end = kStart + samples / gpus * kCadence;
  const std::size_t jobs = write_jobs(folder, hosts, end, random).size();
  write_samples(folder, samples, hosts, random);
  fmt::print("{} samples of {} gpus, {} jobs\n", samples, gpus, jobs);
  return 0;
}
