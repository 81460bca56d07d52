#include "dream/leads.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/text.h"
#include "dream/prose.h"
#include "model/patch_edits.h"

namespace amdahl::dream {
namespace {

using model::Bottleneck;

// Folded prefixes of words and phrases. One of `cures` or `costs` is enough; of the weak ones it
// takes two. A mentioned cost is a reason to change something even if it is only described.
struct Vocabulary {
  Bottleneck bottleneck;
  std::string_view cures;
  std::string_view costs;
  std::string_view weak;
};

constexpr auto kVocabulary = std::to_array<Vocabulary>({
    {Bottleneck::kInput,
     "prefetch,pin memory,pinned memory,non blocking,num workers,loader worker,dataloader worker,"
     "loader process,persistent workers,persistent loader,memory map,mmap,webdataset,tfrecord,lmdb,"
     "ffcv,double buffer,readahead,read ahead,turbojpeg,pretokeni,read sequential,"
     "sequential read,decode once,decode image,decoding image,decode on the gpu,cache the decod,"
     "stage the data,local nvme,local ssd,input pipeline,interleave,file handle,tf data,resizing "
     "the image,resize the image,downsampl,object store,ahead of time,preprocess,local drive,read "
     "the data",
     "starv,waiting for data,wait for data,waiting for input,waits for data,waits for the loader,"
     "small files,data loading,on the fly,over nfs",
     "dataloader,loader,decod,tokeni,collate,augment,shard,dataset,corpus,epoch,features,jpeg,"
     "host to device,copying in,cache,batches ahead,offline,hdf5,h5py,parquet,arrow,images,samples "
     "per second,examples per second,rows,workers,getitem,shuffle,file,files,disk,storage,bucket "
     "of,nvme,nfs,audio,video,clip,resampl,training "
     "set,drive,reads,download,record,records,feed,text "
     "files,compress,decompress,preprocessing,input,data"},
    {Bottleneck::kContention,
     "num threads,setnumthreads,openmp thread,mkl thread,numactl,numa node,cpu affinity,taskset,"
     "cpuset,pin each,pin the process,pin ranks,intra op,thread pool size,"
     "core isolation,dedicated core,limit the number of threads,isolcpus,num thread,set num "
     "threads,bind",
     "oversubscri,over subscri,too many threads,noisy neighbo,cpu contention,fighting for core,"
     "fight for core,fighting each other,preempted,steal time,slowed each other,compete "
     "for,competing for",
     "openmp,omp,threads,cores,numa,affinity,thread "
     "pool,contention,preempt,host,hosts,blas,socket,cpus,mkl,joblib,pools,latency "
     "spikes,scheduler quota,pod,compaction,background,cycles,same machine,same machines,other "
     "hosts,neighbour,neighbor,cron,daemon,antivirus,interrupts,irq,hyperthread"},
    {Bottleneck::kCommunication,
     "all reduce,allreduce,all gather,allgather,reduce scatter,bucket size,bucket cap,nccl,no sync,"
     "gradient compression,compress gradient,powersgd,rdma,hierarchical reduction,overlap commun,"
     "gradient sync,exchange gradients,gradient exchange,bigger buckets,larger buckets,shard "
     "optimizer,sharding optimizer,zero stage,tensor parallel,pipeline parallel,nvlink,gradient "
     "reduction,all gathers,all reduces",
     "waiting for other ranks,waits for the slowest rank,straggler",
     "collective,gradient,communicat,ranks,interconnect,infiniband,ddp,fsdp,accumulation,wire,"
     "backward,overlap,allto all,parameter server,broadcast,node,nodes,network,traffic,scaling "
     "efficiency,reduction,iteration,messages,tcp,averaging,flatten,reduce,peer,bandwidth,rank,"
     "stragglers,synchronis,synchroniz,synchronous,rings,cluster"},
    {Bottleneck::kLifecycle,
     "async checkpoint,asynchronous checkpoint,checkpoints asynchronous,checkpoint in the back,"
     "checkpoints in a back,lazy import,import lazily,bytecode,cache dir,compile cache,"
     "compilation cache,load the model once,loads the model once,long lived worker,long lived proc,"
     "warm pool,reuse the process,fork server,checkpoint every,checkpoint less,fewer checkpoints,"
     "background thread,precompil,snapshot the process,keep the process,async save,pre "
     "pull,safetensors,on first use,upload in the background,local disk first",
     "cold start,start up took,startup took,importing,import time,slow start,loaded the model,"
     "reloads the model,checkpoint stall,saving stall,image pull,pulling a,pulling the "
     "image,minutes to start,unpickl,imports,initialisation,initialization",
     "checkpoint,import,start up,startup,warm up,warmup,teardown,initiali,model load,load model,"
     "saving,serialis,serializ,container,restart,per process,each "
     "start,model,image,weights,start,pods,replica,layer,state "
     "dict,upload,resumes,modules,boot,first use,help,trial,per process,object "
     "storage,uploads,sweep,launching,booting,restore,shutdown,exit,compile time,first step,jit "
     "compil,recompil,process"},
    {Bottleneck::kSerial,
     "cuda graph,vectori,fused,foreach,jemalloc,tcmalloc,numba,cython,hoist,memoi,lru "
     "cache,reserve,"
     "move out of the loop,orjson,avoid cloning,avoid copies,avoids quadratic,batch the calls,"
     "string view,precompute,look up table,lookup table,without the gil,in c instead,torch "
     "stack,one call per,single call,parsing them once,parse once,batched,instead of "
     "rebuilding,reuse the buffer,in arrays,inlin",
     "launch overhead,python loop,python overhead,quadratic,hot path,launch bound,cpu bound,gil,"
     "item by item,row by row,one by one,per row,deepcopy,deep copy,"
     "tiny kernels,cpu was the bottleneck,dominated cpu,recomputed,small launches,many "
     "launches,list comprehension,rebuilding,python objects,per sentence,per element,json "
     "loads,string concat,bound by the interpreter,anew for each,for each sample,in a "
     "loop,dominated the profile,global lock",
     "pandas,numpy,python,malloc,allocator,clone,copies,regex,tokenizer,post process,postprocess,"
     "loop,compilation,interpreter,cpu,hash map,json,pickle,launch,apply,main "
     "thread,parsing,parse,objects,beam search,arrays,steps per hour,mask,py "
     "spy,profile,serialization,request,requests,interpreter,dict,polars,tracing,jit,feature,"
     "sorting,lists,strings,parser,single thread,one thread,single core,one "
     "core,graph,copy,copying,lock,calls,algorithm,host code,preparation"},
    {Bottleneck::kWakeups,
     "wait policy,blocktime,notify once,fewer wake,fewer context switch,"
     "spin before,epoll",
     "context switch,kept spinning,busy wait,spinning,wakeups,wake ups,futex,thundering herd",
     "mutex,condition variable,notify,spin,sleep,wake,queue,hand over,items,work "
     "items,pool,core,sched,poll,polled,epoll,event loop,timeout,timer,signal,woken,idle "
     "servers,thread"},
    {Bottleneck::kSync,
     "on the device,on the gpu,log every,log to a buffer,buffered log,flush once,"
     "check every,less often,async log,keep metrics,copy asynchron,async copy,event,running mean",
     "item,synchronize,synchronise every,device sync,fsync,empty cache,isnan,nan check,"
     "read the loss back,reads back,host waits,host waited,host to wait,"
     "wait for the device,waits for the device,blocking copy,cpu item,"
     "flush after,tolist,device to host,stream drains,blocks until,sync per step,cpu "
     "tolist,stalled the gpu,numpy call,after each batch,at every step,for every step,waited for "
     "every kernel,to the host",
     "loss,logging,log,metric,accuracy,flush,detach,counters,tensorboard,progress bar,print,nan,"
     "synchron,every step,each step,pinned buffer,tensor,iterations,sampler,grad norm,print "
     "tensor,scheduler,confusion matrix,fetch,callback,kernel in the "
     "queue,stream,readback,debug,assert,checks,device,end of the epoch"},
    {Bottleneck::kAllocation,
     "right siz,rightsiz,fewer gpu,fewer accelerator,mps,mig,bin pack,pack several,share one gpu,"
     "one accelerator,time slic,autoscal,give back,share a card,share a gpu,one gpu per,single gpu",
     "never kept more,over provision,overprovision,underutili,under utili,idle gpus,over alloc,"
     ",reserved whole,one a100 each,one is enough,hold eight,hold the",
     "gpus,accelerators,quota,request,busy,pack,hours,replicas,card,utilisation,utilization,whole "
     "nodes,sweep,trials,nodes,fleet,cards,tiny,reserve,reservation,hold,held,enough,small "
     "models,share,gpu"},
    {Bottleneck::kCompute,
     "tf32,bf16,bfloat16,fp16,fp8,mixed precision,half precision,autocast,channels last,tensor "
     "core,"
     "flash attention,flashattention,scaled dot product,torch compile,xla,kernel fusion,"
     "fuses the,quanti,cudnn benchmark,triton,multiple of 8,multiple of 64,kv cache,specul,"
     "larger batch,larger tiles,scaled dot,sorting requests by length,int8,less padding,reduces "
     "padding,nhwc,larger batch size,batch size of",
     "memory bound kernel,low occupancy",
     "gemm,matmul,matrix multipl,convolution,convs,precision,fusion,fuse,kernel,pad,vocabulary,"
     "attention,throughput,pointwise,tokens,padding,weights,softmax,int4,sequence length,decoding "
     "time,layout,grouped,layer,layers,float32,fp32,decoder,encoder,tile,cache "
     "line,flops,arithmetic,multiply,tokens per second"},
});

constexpr double kStrong = 2;
constexpr double kWeak = 1;
constexpr double kEnough = 2;  // A strong phrase, or two weak ones.
constexpr double kLeast = 1;

// That something got cheaper,
constexpr auto kGains = std::to_array<std::string_view>({"faster",
                                                         "quicker",
                                                         "speed",
                                                         "sped",
                                                         "perf",
                                                         "throughput",
                                                         "saves",
                                                         "saved",
                                                         "saving",
                                                         "cut",
                                                         "cuts",
                                                         "reduc",
                                                         "dropped",
                                                         "drops",
                                                         "drop from",
                                                         "fell",
                                                         "rose",
                                                         "halv",
                                                         "doubled",
                                                         "doubles",
                                                         "quadrupl",
                                                         "removed",
                                                         "hides",
                                                         "hide",
                                                         "vanish",
                                                         "went away",
                                                         "shorter",
                                                         "shortened",
                                                         "in place of",
                                                         "instead of",
                                                         "rather than",
                                                         "worth",
                                                         "gave us",
                                                         "gained",
                                                         "gives",
                                                         "twice as",
                                                         "went from",
                                                         "helped",
                                                         "brought",
                                                         "fifth of",
                                                         "third of",
                                                         "half of",
                                                         "tenth of",
                                                         "half the",
                                                         "times less",
                                                         "less time",
                                                         "near instant",
                                                         "fewer",
                                                         "no longer",
                                                         "are gone",
                                                         "is gone",
                                                         "even",
                                                         "solved",
                                                         "made them",
                                                         "once",
                                                         "takes seconds",
                                                         "skip",
                                                         "overlap",
                                                         "avoid",
                                                         "largest win",
                                                         "single win",
                                                         "more steps",
                                                         "more throughput",
                                                         "utilisation from",
                                                         "utilization from",
                                                         "async"});
// or costs.
constexpr auto kLosses = std::to_array<std::string_view>(
    {"overhead",  "bottlenec",  "stall",    "idle",        "wait",     "starv",     "slow",
     "dominat",   "bound by",   "spent",    "stood still", "cost us",  "busy only", "took",
     "latency",   "contention", "fighting", "hot path",    "blocks",   "forces",    "caused",
     "wall time", "step time",  "utilis",   "utiliz",      "although", "percent",   "pause",
     "stole",     "compete",    "per step", "every step"});
// Failure, or a revert.
constexpr auto kHarms = std::to_array<std::string_view>(
    {"hurt",          "worse",     "slower",    "diverge",         "regress",
     "degrad",        "went back", "revert",    "neither",         "no effect",
     "no difference", "not help",  "not worth", "not pay",         "stays off",
     "no gain",       "crash",     "deadlock",  "nothing changed", "did not change",
     "gave up",       "given up",  "ran out",   "rolled back",     "no longer need"});
constexpr auto kHelps =
    std::to_array<std::string_view>({"faster", "sped", "speed", "saves", "saved", "gained",
                                     "improv", "rose", "cut ", "throughput"});
constexpr auto kAgainst =
    std::to_array<std::string_view>({"do not", "don t", "never", "must not", "should not"});
// With which advice begins.
constexpr auto kAdvice = std::to_array<std::string_view>(
    {"use",      "set",      "enable",   "move",       "cache",   "write",    "switch",
     "replace",  "remove",   "capture",  "pad",        "pack",    "pin",      "compile",
     "limit",    "avoid",    "skip",     "load",       "log",     "turn",     "keep",
     "batch",    "fuse",     "share",    "store",      "read",    "setting",  "enabling",
     "using",    "increase", "raise",    "lower",      "reduce",  "compress", "precompute",
     "prefetch", "tokenise", "tokenize", "checkpoint", "drop",    "with",     "overlap",
     "run",      "try",      "prefer",   "allow",      "disable", "bind",     "stage",
     "convert",  "merge",    "call",     "accumulate"});

// Commits that start like this change behaviour or style, not cost.
constexpr auto kOtherWork = std::to_array<std::string_view>(
    {"revert", "fix typo", "validate", "support ", "add support", "add type", "document", "rename",
     "disable", "bump", "refactor", "docs", "test"});

bool holds(std::string_view text, std::string_view phrase) {
  const std::string start = " " + std::string(phrase);
  return text.find(start) != std::string_view::npos;
}
bool holds_any(std::string_view text, std::span<const std::string_view> phrases) {
  return std::ranges::any_of(phrases, [&](std::string_view phrase) { return holds(text, phrase); });
}

// Matches of one class in one text.
struct Tally {
  Bottleneck bottleneck = Bottleneck::kUnknown;
  double score = 0;
  double weak = 0;  // Of it.
  std::string technique;
  bool costs = false;  // What told is a cost.
};

void add(std::string_view text, std::string_view phrases, double each, Tally& tally) {
  for (const std::string_view phrase : split(phrases, ',')) {
    if (phrase.empty() || !holds(text, phrase)) continue;
    tally.score += each;
    if (each < kStrong) tally.weak += each;
    if (tally.technique.empty()) tally.technique = phrase;
  }
}

Tally tally_of(const Vocabulary& row, std::string_view text) {
  Tally tally{row.bottleneck, 0, 0, "", false};
  add(text, row.costs, kStrong, tally);
  tally.costs = tally.score > 0;
  add(text, row.cures, kStrong, tally);
  add(text, row.weak, kWeak, tally);
  return tally;
}

const Tally* best_of(std::span<const Tally> tallies) {
  const auto best = std::ranges::max_element(tallies, {}, &Tally::score);
  return best != tallies.end() && best->score >= kLeast ? &*best : nullptr;
}

// "Pin …", "Replacing …", "We moved …".
bool is_advice(const Sentence& sentence) {
  const std::string& first = sentence.words.front().text;
  if (std::ranges::find(kAdvice, std::string_view(first)) != kAdvice.end()) return true;
  constexpr std::size_t kShortestGerund = 6;
  if (first.size() >= kShortestGerund && first.ends_with("ing")) return true;
  return first == "we" && sentence.words.size() > 1 && sentence.words[1].text.ends_with("ed") &&
         sentence.words[1].text != "tried" && sentence.words[1].text != "evaluated";
}

// "12 %", "3 ms", "1.7 times": a measured effect.
bool has_measure(std::string_view text) {
  for (std::size_t at = text.find_first_of("%"); at != std::string_view::npos;
       at = text.find('%', at + 1)) {
    const std::size_t digit = text.find_last_not_of(' ', at == 0 ? 0 : at - 1);
    if (at > 0 && digit != std::string_view::npos && is_digit(text[digit])) return true;
  }
  const std::string words = folded(text);
  for (const std::string_view said :
       {"twice", "doubled", "halved", "three times", "four times", "five times", "ten times",
        "half of the time", "a fifth of"}) {
    if (holds(words, said)) return true;
  }
  for (const std::string_view unit :
       {" times ", " ms ", "x faster", " microseconds ", "x ", " minutes ", " seconds ", " s "}) {
    const std::size_t at = words.find(unit);
    if (at != std::string::npos && at > 0 && is_digit(words[at - 1])) return true;
  }
  return false;
}

// Of the sentences the one with the phrase; else the first.
std::string quote_of(std::string_view text, const std::string& phrase) {
  const std::vector<Sentence> sentences = sentences_in(text);
  for (const Sentence& sentence : sentences) {
    if (holds(folded(sentence.text), phrase)) return quoted(sentence);
  }
  return sentences.empty() ? "" : quoted(sentences.front());
}

bool is_refused(std::string_view words, const Tally& tally) {
  if (holds_any(words, kHarms) && !holds_any(words, kHelps)) return true;
  return !tally.costs && holds_any(words, kAgainst);
}

// Pages, tests and the project's own tools: changing them makes no job cheaper.
bool is_beside(std::string_view path) {
  const std::string low = lower(path);
  for (const std::string_view part :
       {".md", ".rst", ".txt", ".yml", ".yaml", ".po", "test", "bench", "docs/", "example"}) {
    if (contains(low, part)) return true;
  }
  return false;
}

// The lines that come (or go) in files that matter, folded with their operators gone.
struct Edited {
  std::string added = " ";
  std::string removed = " ";
  bool any = false;
};
Edited edited(const std::string& diff) {
  Edited all;
  for (const model::FileEdit& file : model::read_patch(diff)) {
    if (is_beside(file.path)) continue;
    for (const model::LineEdit& edit : file.edits) {
      for (const std::string& line : edit.added) all.added += folded(line);
      for (const std::string& line : edit.removed) all.removed += folded(line);
      all.any = true;
    }
  }
  return all;
}

}  // namespace

std::optional<Lead> lead_in(const Passage& passage) {
  const std::string words = folded(passage.heading + "\n" + passage.text);
  std::vector<Tally> tallies;
  for (const Vocabulary& row : kVocabulary) tallies.push_back(tally_of(row, words));
  const Tally* best = best_of(tallies);
  if (best == nullptr || is_refused(words, *best)) return std::nullopt;
  const std::vector<Sentence> sentences = sentences_in(passage.text);
  const bool advised = std::ranges::any_of(sentences, is_advice);
  const int gains = (holds_any(words, kGains) ? 1 : 0) + (has_measure(passage.text) ? 1 : 0);
  const int tells = gains + (holds_any(words, kLosses) ? 1 : 0) + (advised ? 1 : 0);
  // The less is said about the technique, the more must be said about its benefit.
  const bool only_weak = best->weak == best->score;
  const bool enough =
      only_weak ? tells >= (best->score >= kEnough ? 2 : 3) && gains > 0 : tells >= 1;
  if (!enough) return std::nullopt;
  return Lead{best->bottleneck, best->technique, quote_of(passage.text, best->technique),
              best->score};
}

std::optional<Lead> lead_in(const Commit& commit) {
  const std::string subject = lower(commit.message.substr(0, commit.message.find('\n')));
  for (const std::string_view other : kOtherWork) {
    if (subject.starts_with(other)) return std::nullopt;
  }
  const Edited change = edited(commit.diff);
  if (!change.any) return std::nullopt;
  const std::string said = folded(commit.message);
  std::vector<Tally> tallies;
  for (const Vocabulary& row : kVocabulary) {
    Tally tally = tally_of(row, said);
    Tally code{row.bottleneck, 0, 0, "", false};
    add(change.added, row.cures, kStrong, code);
    add(change.removed, row.costs, kStrong, code);
    Tally undone{row.bottleneck, 0, 0, "", false};
    add(change.added, row.costs, kStrong, undone);
    add(change.removed, row.cures, kStrong, undone);
    tally.score += code.score - undone.score;
    if (tally.technique.empty()) tally.technique = code.technique;
    tallies.push_back(tally);
  }
  const Tally* best = best_of(tallies);
  if (best == nullptr || best->score < kEnough ||
      (holds_any(said, kHarms) && !holds_any(said, kHelps))) {
    return std::nullopt;
  }
  const bool told =
      holds_any(said, kGains) || holds_any(said, kLosses) || has_measure(commit.message);
  const bool only_weak = best->weak == best->score;
  // Code that uses the technique makes up for a terse message.
  if (!told && (only_weak || best->score < 2 * kStrong)) return std::nullopt;
  return Lead{best->bottleneck, best->technique, quote_of(commit.message, best->technique),
              best->score};
}

double likeness(std::string_view a, std::string_view b) {
  const auto shingles = [](std::string_view text) {
    const std::string words = folded(text);
    const std::vector<std::string_view> each = split(trim(words), ' ');
    std::set<std::string> all;
    for (std::size_t i = 0; i + 2 < each.size(); ++i) {
      all.insert(std::string(each[i]) + " " + std::string(each[i + 1]) + " " +
                 std::string(each[i + 2]));
    }
    if (all.empty()) all.insert(words);
    return all;
  };
  const std::set<std::string> first = shingles(a);
  const std::set<std::string> second = shingles(b);
  const auto both =
      std::ranges::count_if(first, [&](const std::string& one) { return second.contains(one); });
  return static_cast<double>(both) /
         static_cast<double>(first.size() + second.size() - static_cast<std::size_t>(both));
}

}  // namespace amdahl::dream
