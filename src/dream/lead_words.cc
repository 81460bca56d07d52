#include "dream/lead_words.h"

#include <array>

namespace amdahl::dream {
namespace {

using model::Bottleneck;

// clang-format off
constexpr auto kVocabulary = std::to_array<Vocabulary>({
    {Bottleneck::kInput,
     "pin memory,pinned memory,non blocking,num workers,loader worker,dataloader worker,"
     "loader process,persistent workers,persistent loader,memory map,mmap,webdataset,tfrecord,"
     "lmdb,ffcv,double buffer,readahead,read ahead,turbojpeg,pretokeni,read sequential,"
     "sequential read,decode once,decode image,decoding image,decode on the gpu,cache the decod,"
     "stage the data,local nvme,local ssd,input pipeline,file handle,tf data,resizing the image,"
     "resize the image,downsampl,object store,preprocess,local drive,read the data,"
     "nvjpeg,with dali,use dali,read buffer,reader threads,more readers,next shard,tar shard,"
     "shards,"
     "read in order,nvdec,video decod,larger read,parquet row group,cache the dataset,"
     "dataset cache,fewer files,larger shards,columnar,page cache,arrow file,"
     "local copy of the data,prefetch batch,prefetch the next,prefetch next,prefetch two,"
     "prefetch factor,prefetch autotune,prefetching two,data prefetch,image reader,"
     "token ids to disk,memmap,"
     "contiguous slice,lhotse,shar archive,mosaic streaming,petastorm,sample cache,"
     "precomputed features,extract features,feature extraction,transforms on the gpu,kornia,"
     "augment on the gpu,jpeg turbo,pillow simd,zipfile,archive member,pool of descriptors,"
     "file descriptor,more processes,device prefetch,prefetcher,batches ahead,"
     "batches on the device,io uring,to parquet,dictionary encoding,row group,pre processed,"
     "before training,loader processes,bigger read",
     "starv,waiting for data,wait for data,waiting for input,waits for data,waits for the loader,"
     "small files,data loading,over nfs,open file,"
     "metadata server,million files,loading the data,data pipeline,input bound,images per second,"
     "seek bound,i o bound,enumerate loader,waiting on the loader,data wait,small reads,"
     "random reads,get requests,its own file,cold nfs,input stall,the loader is,cpu transforms,"
     "gunzip,spinning disk,bytes read,reading the input",
     "on the fly,one at a time,opening,dataloader,loader,decod,tokeni,collate,augment,shard,"
     "dataset,corpus,epoch,features,jpeg,"
     "host to device,copying in,offline,hdf5,h5py,parquet,arrow,images,samples per second,"
     "examples per second,rows,workers,getitem,shuffle,disk,storage,bucket of,nvme,nfs,audio,"
     "video,clip,resampl,training set,drive,reads,download,record,records,feed,text files,"
     "compress,decompress,preprocessing,input,readers,reader,buffering,interleave,trainer,"
     "protobuf,bucket,lustre,gpfs,ceph,s3,objects,fetching,training rate,transforms,augmentation,"
     "prefetch,cache,feeds,feeder,csv,npy,seek,img s,crops,archive,zip,loading,memcpy,fetch time"},
    {Bottleneck::kContention,
     "num threads,setnumthreads,openmp thread,mkl thread,numactl,numa node,cpu affinity,taskset,"
     "cpuset,pin each,pin the process,pin ranks,intra op,thread pool size,core isolation,"
     "dedicated core,limit the number of threads,isolcpus,num thread,set num threads,cpu limits,"
     "cpu quota,cpu manager,core binding,bind ranks,pin worker,worker to cores,core affinity,"
     "thread affinity,affinity of,cores of its own,cores of their own,reserve cores,"
     "reserving two cores,reserved cores,systemd slice,setaffinity,sched affinity,"
     "migrated between,core pinning,pin threads,nthread,n jobs,intra op threads,mkl num threads,"
     "openblas num threads,numexpr,one thread inside,cgroup,whole cores,physical cores,bind it,"
     "bind them,bind to,bind the,bind each,binding them,isolated cores,nice level",
     "oversubscri,over subscri,too many threads,noisy neighbo,cpu contention,fighting for core,"
     "fight for core,fighting each other,preempted,steal time,slowed each other,compete for,"
     "competing for,throttl,cpu steal,shared cores,noisy neighb,all cores,runnable threads,"
     "cron job,updatedb,antivirus,share the machine,shares the machine,too many processes,"
     "took six cores,stole,steal time from,cpu pressure,slower than one after another,"
     "on the same box,other tenants",
     "openmp,omp,threads,cores,numa,thread pool,contention,preempt,host,hosts,blas,socket,cpus,"
     "mkl,joblib,pools,latency spikes,scheduler quota,pod,compaction,background,cycles,"
     "same machine,same machines,other hosts,neighbour,neighbor,cron,daemon,interrupts,irq,"
     "hyperthread,limits,quota,p99,median,kubernetes,affinity,sockets,migrat,exporter,log shipper,"
     "bimodal,variance,tail,grab"},
    {Bottleneck::kCommunication,
     "all reduce,allreduce,all gather,allgather,reduce scatter,bucket size,bucket cap,"
     "communication overlap,batch overlap,overlap p2p,bubbles in the pipeline,gradient compression,"
     "compress gradient,powersgd,rdma,hierarchical reduction,overlap commun,"
     "gradient sync,exchange gradients,gradient exchange,bigger buckets,larger buckets,"
     "shard optimizer,sharding optimizer,zero stage,tensor parallel,pipeline parallel,nvlink,"
     "gradient reduction,all gathers,all reduces,all to all,alltoall,a2a,p2p,micro batch,"
     "microbatch,pipeline bubble,nvshmem,symmetric memory,nchannels,max connections,"
     "expert parallel,param gather,two level reduction,reduction of gradients,deepep,sharp,"
     "before the all,before a2a,half the bytes,bytes on the wire,fewer bytes,communicator,"
     "intra node first,between nodes,nvls,gradient bucket,nccl ,all to alls,gathers,local sgd,"
     "diloco,average their parameters,weight gather,forward prefetch,backward prefetch,gpudirect,"
     "peer mem,roce,rank order,leaf switch,topology aware,bus bandwidth,comm hook,compress hook,"
     "no sync,bucket cap mb,wrap whole,wrapping whole,overlap with backward,reduce in bf16,"
     "reduce gradients,gradients in bf16,fewer collectives,larger messages,communication stream,"
     "async reduce,shards gradient,shards optim,overlapping the fetch,allreduce rms,"
     "tp allreduce,dp reduce",
     "waiting for other ranks,waits for the slowest rank,straggler,bytes,on the wire,exposed all,"
     "exposed comm,fall back to sockets,network bound,slow link,the wire,half the traffic,"
     "traffic falls,tiny all gathers,bandwidth between nodes,waiting on peers",
     "collective,gradient,communicat,ranks,interconnect,infiniband,ddp,fsdp,accumulation,wire,"
     "backward,overlap,allto all,parameter server,broadcast,node,nodes,network,traffic,"
     "scaling efficiency,reduction,iteration,messages,tcp,averaging,flatten,peer,rank,"
     "stragglers,synchronis,synchroniz,synchronous,rings,cluster,send,levels,within a node,"
     "point to point,collectives,dispatch,combine,hops,topology,rail,nccl,zero 3,ethernet,"
     "expert layers,switch,ring,gb s"},
    {Bottleneck::kLifecycle,
     "async checkpoint,asynchronous checkpoint,checkpoints asynchronous,checkpoint in the back,"
     "checkpoints in a back,lazy import,import lazily,bytecode,compile cache,"
     "compilation cache,load the model once,loads the model once,long lived worker,"
     "long lived proc,warm pool,reuse the process,fork server,checkpoint every,checkpoint less,"
     "fewer checkpoints,background thread,precompil,snapshot the process,keep the process,"
     "async save,pre pull,safetensors,on first use,upload in the background,local disk first,"
     "autotun,warm start,load time,kernel cache,lazy load,lazily,compiled artifacts,"
     "across restarts,weights are streamed,startup time,start up time,second start,each start,"
     "start in,starts in,restart time,read once per node,one reader per node,"
     "reads the full checkpoint,resume in,ship the cache,save the compiled,import until,"
     "lazy import,prewarm,graph capture time,do not compile,"
     "re import,worker initialization,reuse actors,image size,"
     "smaller image,process per task,pool of warmed,warmed interpreter,model resident,"
     "stays loaded,keep alive,alive between,shared server,criu,snapshotting,container image,"
     "recompil,compilation per launch,persistent compilation,drop the remainder,before exit,"
     "tensorizer,mmap weights,defer import,deferred import,importlib,no longer imports,"
     "does not import,imports lazily,its own slice,state to host,write it from a thread,"
     "writes its own,load file,snapshot optim,thread target torch save,warm process,image layer,"
     "prewarm,pre warm,reuse the interpreter,import torch to",
     "cold start,start up took,startup took,importing,import time,slow start,loaded the model,"
     "reloads the model,checkpoint stall,saving stall,image pull,pulling a,pulling the image,"
     "minutes to start,unpickl,initialisation,initialization,restart,at each start,"
     "takes minutes to start,full checkpoint,imports ,cold replica,fresh interpreter,forks a,"
     "new process for each,per launch,until the first token,time to start,process startup,"
     "teardown,waits for a 10 minute,pause from,load 6,hands the nodes back,nodes back,"
     "container start,every launch,scale up time",
     "checkpoint,import,start up,startup,initiali,model load,load model,saving,serialis,serializ,"
     "container,per process,weights,pods,replica,state dict,upload,resumes,modules,boot,first use,"
     "trial,object storage,uploads,sweep,launching,booting,restore,shutdown,exit,compile time,"
     "first step,jit compil,restarts,entrypoint,cold,old checkpoints,stored,store its,"
     "quarter of an hour,ckpt,broadcast,16k,serverless,cli,image,timeout,process group,harness,"
     "tasks,fork,snapshot,replicas"},
    {Bottleneck::kSerial,
     "cuda graph,cudagraph,cpu scheduling,async batching,vectori,foreach,jemalloc,tcmalloc,numba,"
     "cython,hoist,memoi,lru cache,"
     "move out of the loop,orjson,avoid cloning,avoid copies,avoids quadratic,batch the calls,"
     "string view,precompute,look up table,lookup table,without the gil,in c instead,torch stack,"
     "one call per,single call,parsing them once,parse once,batched,instead of rebuilding,"
     "reuse the buffer,in arrays,inlin,detokeni,cpu overhead,host overhead,scheduler overhead,"
     "async schedul,multi step,launch cost,edit distance,c extension,python implementation,"
     "output construct,gc freeze,gc collect,garbage collect,shallow copy,no deepcopy,"
     "fewer allocations,faster parser,arena,pydantic,msgspec,simdjson,iterrows,itertuples,groupby,"
     "numpy repeat,cumsum,under one jit,lax scan,fori loop,multi tensor,fused adam,fused optim,"
     "one launch,a couple of launches,a heap,flat array,flat hash,once at init,computed once,"
     "compute once,tables once,slots,graph replay,capture decode,graphs for batch,use c ,in rust,"
     "async thread,stream multiprocess,unnecessary copies,some copies,redundant md5,than loop,"
     "metadata prepar,"
     "in numpy,a set instead,bisect,dict lookup,one pass,single pass,avoid allocat,reuse buffers,"
     "object pool,process pool,off the event loop,to cython",
     "launch overhead,python loop,python overhead,quadratic,hot path,launch bound,cpu bound,gil,"
     "item by item,row by row,one by one,per row,deepcopy,deep copy,tiny kernels,"
     "cpu was the bottleneck,dominated cpu,recomputed,small launches,many launches,"
     "list comprehension,rebuilding,python objects,per sentence,per element,json loads,"
     "string concat,bound by the interpreter,anew for each,for each sample,"
     "dominated the profile,global lock,don t rebuild,rebuild,rebuilt,gc ,garbage,pauses,hiccup,"
     "nested for loop,for loops,flame graph,small jitted functions,dispatch of,pure python,"
     "o n log,o n 2,queue ran dry,launches,keeps the host busy,host busy,per tick,every tick,"
     "ticks,on every tick,validated each,per request,per token event,hot in,single threaded,"
     "holds the gil,unordered map,one launch per",
     "pandas,numpy,python,malloc,allocator,clone,copies,regex,tokenizer,post process,postprocess,"
     "loop,compilation,interpreter,hash map,json,pickle,launch,apply,main thread,parsing,parse,"
     "objects,beam search,arrays,steps per hour,mask,py spy,profile,serialization,request,"
     "requests,dict,polars,tracing,jit,feature,sorting,lists,strings,parser,single thread,"
     "one thread,single core,one core,graph,copying,lock,calls,algorithm,host code,preparation,"
     "metadata,scheduler,host time,joining strings,incremental,sorted,freeze,collect,flame,node,"
     "heap,frontend,core,tick,lookup,hot,nested,ragged"},
    {Bottleneck::kWakeups,
     "wait policy,blocktime,notify once,fewer wake,fewer context switch,spin before,epoll,"
     "condition variable,chunking,two threads are enough,fewer threads,one thread per core,"
     "spincount,spin count,eventfd,blocking read,condvar,cv wait,passive wait,fewer syscalls,"
     "batching the sends,sending lists,block on,blocking wait,adaptive mutex",
     "context switch,kept spinning,busy wait,spinning,wakeups,wake ups,futex,thundering herd,"
     "polled,burned a core,busy loop,going to sleep,waking up,context switches per,spinners,"
     "busy waits,woke every,wakes every,wakes up every,sleep 0,usleep,nanosleep,polls every,"
     "polling every,poll interval,system time,voluntary context,lock convoy,spin lock,spinlock,"
     "thread wakes,looks at a flag,look at a flag",
     "mutex,notify,spin,wake,hand over,work items,sched,poll,event loop,timeout,timer,signal,"
     "woken,idle servers,futures,executor,completion queue,grpc,pollers,syscalls,strace,"
     "system calls,watchdog,flag,sleep,zeromq,gomp,interrupt"},
    {Bottleneck::kSync,
     "on the device,log every,log to a buffer,buffered log,flush once,check every,less often,"
     "async log,keep metrics,copy asynchron,async copy,running mean,cuda event,sync free,"
     "host sync,every tenth,every hundred,fixed size mask,fixed shape,without item,stream busy,"
     "static shape,shapes static,torch where,one step late,read lazily,"
     "reads the running loss lazily,without reading,device scalar,single read back,one read back,"
     "onto the device,on device,stays on the gpu,copied back with an event,"
     "drop torch cuda synchronize,keep it on the gpu,avoid the copy back,value on the device",
     "synchronize,synchronise every,device sync,fsync,empty cache,isnan,nan check,"
     "read the loss back,reads back,host waits,host waited,host to wait,wait for the device,"
     "waits for the device,blocking copy,cpu item,flush after,tolist,device to host,stream drains,"
     "blocks until,sync per step,cpu tolist,stalled the gpu,numpy call,after each batch,"
     "at every step,for every step,waited for every kernel,to the host,waits for the gpu,"
     "wait for the gpu,waiting for the gpu,d2h,copied a flag,synchronously,nonzero,"
     "data dependent shape,blocks the host,block the host,item ,dtoh,d to h,cudamemcpy,isnan loss,"
     "needs the value,float loss,set postfix,read back,readback,boolean indexing,masked select,"
     "sum cpu,call cpu,stop for them,blocked on the stream,host has to stop,host must wait,"
     "norm on the host,value on the cpu,nothing can be queued,torch cuda synchronize,"
     "cuda synchronize,synchronization point,sync point,waits for the stream,implicit sync,"
     "hidden sync,stream syncs,cuda sync,device host,host sync,h2d copies,host side check,"
     "shapes that only",
     "loss,logging,log,metric,accuracy,flush,detach,counters,tensorboard,progress bar,print,nan,"
     "synchron,every step,each step,pinned buffer,tensor,iterations,sampler,grad norm,"
     "print tensor,confusion matrix,fetch,callback,kernel in the queue,stream,checks,"
     "end of the epoch,writer thread,separate thread,on the gpu,mask,tqdm,infs,queue ahead,gaps,"
     "nsight,event,stop token,clip,norm"},
    {Bottleneck::kAllocation,
     "model instances,instances of the model,instance group,copies of each model,mig ,right siz,"
     "rightsiz,fewer gpu,fewer accelerator,mps,bin pack,pack several,share one gpu,"
     "one accelerator,time slic,autoscal,give back,share a card,share a gpu,one gpu per,"
     "single gpu,fit on one,returning it,mig slice,smaller request,request fewer,costs an eighth,"
     "fewer cards,half the gpus,one card,fits on one,ask for one,ask for fewer,ask for two,"
     "shared pool,time slicing,idle culling,smaller instance,downsiz,consolidat,co locat,"
     "colocat,fractional gpu,reclaim,seeds side by side,side by side on one,returns 140,"
     "release the gpu,releases the gpu,scale to zero,share the card,fewer nodes,smaller node,"
     "gpu sharing",
     "never kept more,over provision,overprovision,underutili,under utili,idle gpus,over alloc,"
     "reserved whole,one a100 each,one is enough,hold eight,hold the,for days,stayed allocated,"
     "are idle,seven are,request eight,requests eight,most of the gpus,sit idle,never exceed,"
     "do you need,do not need,sm activity,scaling from one,only gave 1,idle session,held idle,"
     "notebooks hold,unused gpus,allocated but,half empty,below 20,under 20,at 9,not using",
     "gpus,accelerators,quota,busy,pack,hours,replicas,card,utilisation,utilization,whole nodes,"
     "sweep,trials,nodes,fleet,cards,tiny,reserve,reservation,held,enough,small models,gpu,"
     "inactivity,notebooks,of their cards,template,earlier,instances,pool,v100s,a10,queue time,"
     "sessions,endpoints,finops,cost report,ask for,memory use"},
    {Bottleneck::kCompute,
     "dynamic batch,continuous batch,in flight batch,static batching,batcher,key value cache,"
     "kv vectors,"
     "float8,tensorcore,large batch size,increase the batch size,increase batch size,tf32,bf16,"
     "bfloat16,fp16,fp8,mixed precision,half precision,autocast,channels last,"
     "tensor core,flash attention,flashattention,scaled dot product,torch compile,xla,"
     "kernel fusion,fuses the,quanti,cudnn benchmark,multiple of 8,multiple of 64,kv cache,specul,"
     "larger batch,larger tiles,scaled dot,sorting requests by length,int8,less padding,"
     "reduces padding,nhwc,larger batch size,raise the batch,fused,cutlass,cublas,fp4,nvfp4,mxfp,"
     "cutedsl,cute dsl,deepgemm,flashinfer,single kernel,one kernel,one matmul,matrix product,"
     "8 bit,4 bit,split kv,flash decode,grouped gemm,warp speciali,chunked prefill,batch matmul,"
     "batched gemm,sequence packing,packing,pack sequences,cudnn,padding waste,bucketing,"
     "remove padding,larger gemm,persistent kernel,compiled with,liger,never materialis,"
     "never materializ,sdpa,memory efficient,efficient attention,awq,gptq,marlin,prefix cach,"
     "kv blocks,avoids recomput,avoid recomput,draft model,recomputation,activation checkpoint,"
     "selective,last position,128 bit,float4,vectorized load,sparsity,pruning,distill,early exit,"
     "triton kernel,removed the casts,fewer casts,fused topk,fused rms,fused concat,moe fused,"
     "divmod,"
     "softmax,int4 moe,batched silu,moe gate,quant in mla,mla perf,target verify,grouped topk,"
     "tuned config,fused nhwc,grouped query,group norm,groupnorm,"
     "skip the lm head,only need the last,larger tile,low rank,algorithmic,fp16 conv,"
     "reduced precision,lower precision,kernels for",
     "memory bound kernel,low occupancy,round trip,pad every,padding every,"
     "limited by memory bandwidth,extra flops,two casts,redundant compute,computed for nothing,"
     "memory bandwidth,explicit softmax,naive attention,flops",
     "gemm,matmul,matrix multipl,convolution,convs,precision,fusion,fuse,kernel,vocabulary,"
     "attention,throughput,pointwise,tokens,padding,weights,softmax,int4,sequence length,"
     "decoding time,layout,grouped,float32,fp32,decoder,encoder,tile,cache line,arithmetic,"
     "multiply,tokens per second,rmsnorm,rope,hbm,projection,moe,efficiency,prefill,qkv,vae,gelu,"
     "swiglu,head size,hopper,cross entropy,rms norm,logits,casts,context,denoising,mfu,bandwidth,"
     "tokens s,recompute,head"},
});

}  // namespace

std::span<const Vocabulary> vocabulary() { return kVocabulary; }

const std::string_view kGains =
    "performance gain,performance improve,better performance,improves perf,improve perf,"
    "perf gain,evened,fed,"
    "faster,quicker,speed,sped,throughput,saves,saved,saving,cut,cuts,reduc,dropped,drops,"
    "drop from,fell,rose,halv,doubled,doubles,quadrupl,removed,hides,hide,vanish,went away,"
    "shorter,shortened,in place of,instead of,rather than,worth,gave us,gained,gives,"
    "twice as,went from,helped,brought,fifth of,third of,half of,tenth of,half the,"
    "times less,less time,near instant,fewer,no longer,are gone,is gone,solved,made them,"
    "takes seconds,skip,overlap,avoid,largest win,single win,more steps,more throughput,"
    "utilisation from,utilization from,async,cheaper,removes,off the cpu,off the host,"
    "off the training,frees,free up,costs nothing,lowered,down from,earlier it was,"
    "previously,now takes,stays fed,got that time,into one,raised the,more samples,"
    "more requests,gap close,steady,tripled,triple,is enough,are enough,are free,is free,"
    "as good as,costs an,used to take,no more,starts earlier,half the bytes,leave the cores";
const std::string_view kLosses =
    "overhead,bottlenec,stall,idle,wait,starv,slow,dominat,bound by,spent,stood still,cost us,"
    "busy only,took,latency,contention,fighting,hot path,blocks,forces,caused,wall time,"
    "step time,utilis,utiliz,although,percent,pause,stole,compete,per step,every step,"
    "nothing to do,one at a time,anew,synchronously,stayed allocated,limited us,is the limit,"
    "held up,holds up,burn,round trip,again and again,bouncing,queued behind,jitter,"
    "use of their,wastes,slowest,throttl,overload,seven are,pauses,hiccup,show up,busy";
const std::string_view kHarms =
    "hurt,harm,worse,slower,diverge,regress,degrad,went back,revert,neither,no effect,"
    "no difference,"
    "not help,not worth,not pay,stays off,no gain,crash,deadlock,nothing changed,"
    "did not change,gave up,given up,ran out,rolled back,no longer need,lost,switched back,"
    "made no measurable,recommend to leave it off,leave it off,hang,do not work,does not work";
const std::string_view kHelps =
    "faster,sped,speed,saves,saved,gained,improv,rose,cut ,throughput";
const std::string_view kAgainst =
    "do not,don t,never,must not,should not";
const std::string_view kAdvice =
    "use,set,enable,move,cache,write,switch,replace,remove,capture,pad,pack,pin,compile,limit,"
    "avoid,skip,load,log,turn,keep,batch,fuse,share,store,read,setting,enabling,using,increase,"
    "raise,lower,reduce,compress,precompute,prefetch,tokenise,tokenize,checkpoint,drop,with,"
    "overlap,run,try,prefer,allow,disable,bind,stage,convert,merge,call,accumulate";
const std::string_view kNoWork =
    "revert,roll back,rollback,doc,docs,docker,test,tests,ci,cookbook,example,examples,bench,"
    "benchmark";
const std::string_view kOtherWork =
    "fix,bugfix,bug,hotfix,validate,support,document,rename,disable,disallow,disallowing,bump,"
    "refactor,chore,style,build,deps,model,misc,tidy,clean,cleanup,upgrade,update,add,feat,"
    "feature,release,migrate,extract,rework,correct,remove dead,delete,only print,some small,"
    "allow,let,make";
const std::string_view kMends =
    "check that,a check,clear error,error message,deprecat,compat,correctly,canonical,"
    "insensitive,fixed,fixes,fix ,bug,issue,crash,empty,typo,ensure,handle,support for,"
    "reproducib,seed ,raise a,integrat,conditional,debug log,workaround,work around,wrong,"
    "nan ,warning,api ,apis ,tests,version,backend";
const std::string_view kOfSpeed =
    "perf ,performance,optimize ,optimized ,optimise ,optimised ,optimizations ,optimisations ,"
    "optimization ,optimizing,speed,faster,overhead,throughput,latency,efficient ,efficiency,"
    "bottleneck";
const std::string_view kTime =
    "faster,quicker,speed up,speedup,sped,throughput,latency,saves time,halv,doubled,slowed,"
    "slower,slow down,was slow,is slow,too slow,overhead,bottlenec,stall,idle,starv,dominat,"
    "wall time,step time,expensive,cheaper,unnecessary cop,unnecessary sync,unnecessary comp,"
    "redundant comp,redundant cop,redundant sync,wasteful,wasted,repeatedly,performance,"
    "times less,bound by,spent,waits,waited,waiting,hot path,utilis,utiliz,startup time,"
    "load time,import time,capture time,initialization time,long blocking,nothing to do,blocked,"
    "blocks,one by one,again and again,per step cost,gpu bubble,bubbles,explosion,at every step,"
    "once per,every iteration,each time,every time,on every";
const std::string_view kNoTime =
    "documentation,ensure,prevent,lock ,to v1,to v2,install,don t fail,shuts down,importing from,"
    "base image,memory usage,gpu memory,memory of,memory for,ram ,vram,peak memory,mps memory,"
    "footprint,oom,out of memory,memory effic,low memory,log spam,noise,log level,verbose,"
    "wheel size,test,tests,error,errors,exception,raise,warning,warn,guard,guards,assert,config,"
    "configs,readme,example,link,tutorial,recipe,circular,flaky,race,deadlock,leak,terminate,"
    "typing,notimplementederror,port number,lint,specification,attribute,state dict,emulation,"
    "hint,dependenc,badge,renames,star imports,automatic optimization,manual optimization,"
    "idle workers,idle worker,run slow,ci ,hooks,dtype,dtypes,older,compat,unfused,peak flops,"
    "flops,reset,annotation,gate overlap,ordering,interface,benchmark,dashboard,baseline,"
    "profiler,profiling,unused,deprecat,onnx,enable select,not using,removes,up build,to allow,"
    "argument,tracking,metric to,graceful,don t use,when building,workround,trainer for,"
    "add support,enable training,models from,turn off,public,fp32 in,to float32,pin to,"
    "from usage,qlora,autocast in,autocast dtype,early so,skip kv cache,to avoid memory,"
    "an option,legacy,work around,spurious,weights,filter,flop,partial,off by,by default,"
    "behind a,number of,cleanup,refresh,mac os,workflow,docker";
const std::string_view kRepairs =
    "fix,fixes,fixed,fixing,bugfix,bug,hotfix,revert,test,document,rename,bump,update,ci,doc,docs";
const std::string_view kReports =
    "figure ,figures ,table 1,table 2,for more details,more information,you may also,blog post,"
    "refer to,see the,read the,learn more,experiments,we show,outperforms,compared to prior,"
    "prior work,profiler,benchmarking,the following command,for example,metrics for,"
    "goal,benchmark ";
const std::string_view kOfMemory =
    "memory usage,memory footprint,memory effic,gpu memory,less memory,saves memory,out of memory";
const std::string_view kFeatures =
    "support,require,install,propagate,work as,on rocm,on xpu,with accuracy,version,over boolean";
const std::string_view kUpkeep =
    "handle,disable,document,deprecate,validate,check,warn,clean,tidy,rename";
const std::string_view kCuts =
    "avoid,remove,eliminat,reduc,skip,unnecessary,redundan,without,drop,fewer,don t,minimi,save,"
    "saves,stop,only once,per item,per microbatch,improve,less,defer,delay,lower";
const std::string_view kCosts =
    "sync,syncs,synchroniz,copy,copies,d2h,h2d,d2d,recompil,computation,calculation,alloc,"
    "padding,overhead,cast,casts,transfer,launch,latency,duplicate work,compilation,compile time,"
    "capture time,stall,bubble,serializ,deepcopy,clone,host device,blocking,select op,round trip,"
    "rpc,compile explosion,expanding,tensor copy,operations,device oper,step decode,all gather,"
    "allgather,all reduce,allreduce,re export,reexport,startup,init time,initialization,tiling,"
    "prefill,hashing,traversal,conversion,to calls,parsing,lookup,lookups,creating tensor";
const std::string_view kSure =
    "fuse ,fusing,fused kernel,kernel fusion,fusion pass,cast fusion,permute fusion,grad fusion,"
    "rms fusion,fused all,with fused,enable fused,fused topk,fused rms,fused concat,fused gate,"
    "moe gate,fused reduction,fused grouped,fused swiglu,fused qk,persistent kernel,"
    "persistent grouped,tuned,overlap,prefetching,prefetch ,prefetched,delay import,defer import,"
    "avoid re import,import time,lazy open,lazy init,lazy creat,lazy construct,lazy compil,"
    "thread pool,cudamemcpyasync,async tp,async checkpoint,async save,async thread,async issu,"
    "lazy import,lazy load,lazily,cuda graphs,cuda graph able,into cuda graph,"
    "into one cuda graph,use cuda graph,graph break,extend cuda graph,background thread,"
    "precompute,pre allocate,preallocat,vectoriz,on device,on cuda rather,pin memory,"
    "parallel preproc,parallelize over,parallelise,parallelized,batched matmul,flash attention,"
    "jit fuser,bucketing,swap in,prewarm,pre warm,until needed,than needed,by caching,"
    "with caching,local reduction,symmetric memory all reduce,instead of manual,host device sync,"
    "reduce scatter overlap,compile for,compiled,per layer compile,stream sync,"
    "device to host sync,eager perf,end of each,zero copy,split k,swap ab,multi stream";
const std::string_view kSpares =
    "instead of,fewer,no longer,saves,saving,less ,without,no more,in place of,at once,once,"
    "only when,only if,rather than";
const std::string_view kTries =
    "use,move,replace,switch,run,keep,delay,read,write,load,turn,set,compile,hide,bf16,sdpa";
const std::string_view kMeasures =
    "fuse,overlap,cache,batch,avoid,skip,prefetch,reuse,hoist,precompute,vectorize,vectorise,"
    "lazy,lazily,pin,inline,defer,coalesce,pack,stream,persist,increase,raise,reduce,cut,speed,"
    "optimize,optimise,eliminate,accelerate,parallelize,parallelise,shard,share,preallocate,"
    "don t,stop,early,compact,async,asynchronous,faster,quicker,two level,improve perf,"
    "improve performance,remove redundant,perf,merge";
const std::string_view kElsewhere =
    "test,tests,testing,ci ,docs,doc ,documentation,readme,docstring,lint,typing,type hint,typo,"
    "benchmark,benchmarks,tutorial,example,examples,dashboard,workflow,build time,build speed,"
    "compile times of,wheel,docker,memory usage,memory footprint,gpu memory,memory of,memory leak,"
    "memory consumption,peak memory,ram ,vram,oom,out of memory,memory effic,binary size,"
    "image size,log level,verbosity,flaky,changelog,automatic optimization,manual optimization,"
    "perf script,perf recipe,perf number,perf doc,to profile,"
    "optimization loop,optimization step,performance tracking,performance analysis,profiler,"
    "log a ,hint ,numerical,accuracy,convergence";
const std::string_view kNeedless =
    "unnecessar,redundan,needless,unneeded,repeatedly,repeated,duplicate,extra ,superfluous,"
    "no op ,twice,recomput,wasteful,wasted,useless,already,every time,each time,again ";
const std::string_view kSkips =
    "avoid,skip,eliminat,don t,stop,bypass,omit,only,prevent needless,not ";
const std::string_view kTidied =
    "code,import,imports,check,checks,test,tests,comment,log,logs,logging,warning,warnings,"
    "argument,"
    "arguments,param,parameter,parameters,file,files,class,classes,variable,variables,type,types,"
    "space,spaces,dependenc,option,options,config,configs,field,fields,print,prints,assert,line,"
    "lines,whitespace,entry,entries,definition,declaration,include,includes,method,methods,"
    "function,functions,link,links,name,names,error,errors,section,step in,flag,flags,else,"
    "return,subclass,api,apis,copyright,parenthes,bracket,semicolon,requirement,condition,"
    "statement,annotation,backport,release";
const std::string_view kSlowdowns =
    "speed regression,performance regression,perf regression,latency regression,slow ,slowdown,"
    "slowness,performance degradation,performance issue,performance problem,performance bug,"
    "quadratic,performance drop,fast path,fast version,faster version";
const std::string_view kKernelFiles = "cu ,cuh ,hip ,kernel,kernels,triton,cutlass,gemm,metal ";
const std::string_view kInputFiles =
    "data ,dataset,datasets,dataloader,loader,reader,readers,sampler,decoder ,decoders,downloader,"
    "image processing,transforms,augment,collat,shard,tfrecord,parquet,iterable,tokeniz,video,"
    "audio,image";
const std::string_view kStartFiles =
    "checkpoint,importing,startup,compile cache,serialization";
const std::string_view kModelFiles =
    "modeling,model ,models ,attention,layers,layer,ops ,nn ,modules,operators,functional,rotary,"
    "moe ,mlp";
// clang-format on

}  // namespace amdahl::dream
