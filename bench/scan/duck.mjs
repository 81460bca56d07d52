// The same answer from DuckDB: node duck.mjs FOLDER START END THREADS TOP SAMPLES_FILE
// Waste of each job, by an as-of join of samples with who held the accelerator, ranked.
import { DuckDBInstance } from '@duckdb/node-api';

const [folder, start, end, threads, top, samples] = process.argv.slice(2);
const begin = process.hrtime.bigint();
const database = await DuckDBInstance.create(':memory:', { threads });
const connection = await database.connect();
await connection.run(`
create table held as
select a.jobid, a.host, a.gpu,
       greatest(epoch(j.start), ${start})::bigint as t0, least(epoch(j.until), ${end})::bigint as t1
from read_csv('${folder}/gpu_alloc.csv', header=true,
              columns={'jobid':'VARCHAR','host':'VARCHAR','gpu':'INTEGER'}) a
join (select JobID as id, Start::timestamp as start, "End"::timestamp as until
      from read_csv('${folder}/sacct.txt', delim='|', header=true, all_varchar=true)
      where JobID not like '%.%') j on j.id = a.jobid
where epoch(j.until) > ${start} and epoch(j.start) < ${end}`);
const result = await connection.runAndReadAll(`
with sums as (
  select a.jobid, a.host, a.gpu, a.t1 - a.t0 as seconds, count(*) as n,
         count(*) filter (d.util = 0) as idle, sum(d.util) / 100 as busy
  from read_csv('${folder}/${samples}', header=true,
                columns={'at':'BIGINT','host':'VARCHAR','gpu':'INTEGER','util':'DOUBLE'}) d
  asof join held a on d.host = a.host and d.gpu = a.gpu and d.at >= a.t0
  where d.at < a.t1
  group by all)
select jobid, sum(seconds * (n - busy) / n) / 3600 as waste, sum(seconds * idle / n) / 3600,
       sum(seconds * (n - idle - busy) / n) / 3600, sum(seconds * busy / n) / 3600
from sums group by jobid order by waste desc, jobid limit ${top}`);
for (const [job, ...hours] of result.getRows()) {
  console.log(job, hours.map((x) => Number(x).toFixed(6)).join(' '));
}
const used = process.resourceUsage();
const version = (await connection.runAndReadAll('select version()')).getRows()[0][0];
console.error(JSON.stringify({
  version,
  wall_s: Number(process.hrtime.bigint() - begin) / 1e9,
  cpu_s: (used.userCPUTime + used.systemCPUTime) / 1e6,
  rss_mb: used.maxRSS / 1024,
}));
