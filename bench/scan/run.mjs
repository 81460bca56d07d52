// Ours beside DuckDB on the same generated files, in one run:
//   node bench/scan/run.mjs BUILD_FOLDER WORK_FOLDER SAMPLES... [--gz] [--jobs N] [--rounds N]
// Fails if the two rank or sum differently, or if threads or the names of columns change our
// output. --gz: also packed, beside gunzip alone.
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const flag = (name, otherwise) => {
  const at = words.indexOf(name);
  return at < 0 ? otherwise : words.splice(at, 2)[1];
};
const jobs = Number(flag('--jobs', 0));
const rounds = Number(flag('--rounds', 1));
const withGz = words.includes('--gz');
const [build, work, ...sizes] = words.filter((word) => word !== '--gz');
const TOP = 1000;

function wants(path, next) {
  if (existsSync(path)) return;
  console.error(`run.mjs: there is no ${path}; type: ${next}`);
  process.exit(2);
}
if (!build || !work || sizes.length === 0) {
  console.error('usage: node bench/scan/run.mjs BUILD_FOLDER WORK_FOLDER SAMPLES... [--gz] [--jobs N] [--rounds N]');
  process.exit(2);
}
for (const program of ['scan_generate', 'scan_bench']) {
  wants(join(build, 'bench', program), `ninja -C ${build} scan_generate scan_bench`);
}
wants(join(here, 'node_modules/@duckdb/node-api'), `npm ci --prefix ${here}`);

function run(program, args) {
  const done = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`${program}: ${done.stderr}`);
  const line = done.stderr.trim().split('\n').at(-1);
  return { rows: done.stdout.trim().split('\n'), cost: JSON.parse(line) };
}
const ours = (files, threads) =>
  run(join(build, 'bench/scan_bench'), ['--threads', threads, '--top', TOP, ...files]);

function compare(mine, theirs) {
  const ranked = mine.rows.filter((row) => !row.startsWith('total'));
  if (ranked.length !== theirs.rows.length) throw new Error('not the same number of jobs');
  ranked.forEach((row, i) => {
    const [a, b] = [row.split(' '), theirs.rows[i].split(' ')];
    if (a[0] !== b[0]) throw new Error(`rank ${i + 1}: ours ${a[0]}, theirs ${b[0]}`);
    for (let k = 1; k < a.length; ++k) {
      const [x, y] = [Number(a[k]), Number(b[k])];
      // Both are written with six digits: the last may differ by rounding.
      if (Math.abs(x - y) > 1.5e-6 * Math.max(1, y)) throw new Error(`${row} is not ${theirs.rows[i]}`);
    }
  });
}

// The first line has the same length, so that nothing else of the file moves.
function rename(path) {
  const file = openSync(path, 'r+');
  const length = 'timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL'.length;
  writeSync(file, 'ts,host,gpu,util'.padEnd(length), 0);
  closeSync(file);
}

// CPU seconds of a child.
function cpuOf(program, args) {
  const line = spawnSync('bash', ['-c', `TIMEFORMAT='%U %S'; time ${program} ${args} >/dev/null`],
    { encoding: 'utf8' }).stderr.trim().split('\n').at(-1);
  return line.split(' ').map(Number).reduce((a, b) => a + b);
}

const best = (costs) => costs.reduce((a, b) => (b.cpu_s < a.cpu_s ? b : a));
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const fixed = (x, digits = 2) => x.toFixed(digits);
const cells = (cost, samples, most) => [
  fixed(cost.cpu_s), fixed(cost.wall_s), fixed(cost.rss_mb, 0), fixed(samples / cost.cpu_s / 1e6),
  fixed(most / cost.cpu_s, 1)];

if (sizes.length > 0) {
  row('samples', 'who', 'CPU s', 'wall s', 'peak MB', 'M samples / CPU s', 'times less CPU');
  row('---:', '---', '---:', '---:', '---:', '---:', '---:');
}
for (const size of sizes) {
  const folder = join(work, `scan-${size}`);
  mkdirSync(folder, { recursive: true });
  execFileSync(join(build, 'bench/scan_generate'), [folder, size]);
  const files = ['dcgm_long.csv', 'sacct.txt', 'gpu_alloc.csv'].map((name) => join(folder, name));
  const all = { one: [], two: [], duck: [] };
  for (let round = 0; round < rounds; ++round) {
    const one = ours(files, 1);
    const two = ours(files, 2);
    const four = ours(files, 4);
    if (one.rows.join() !== two.rows.join() || one.rows.join() !== four.rows.join()) {
      throw new Error('threads change the output');
    }
    const duck = run('node', [join(here, 'duck.mjs'), folder, one.cost.window_start,
      one.cost.window_end, 2, TOP, 'dcgm_long.csv']);
    compare(one, duck);
    all.one.push(one.cost);
    all.two.push(two.cost);
    all.duck.push(duck.cost);
  }
  const duck = best(all.duck);
  row(size, `DuckDB ${duck.version}`, ...cells(duck, size, duck.cpu_s));
  row(size, 'ours, 1 thread', ...cells(best(all.one), size, duck.cpu_s));
  row(size, 'ours, 2 threads', ...cells(best(all.two), size, duck.cpu_s));
  const kept = ours(files, 1).rows.join();
  rename(files[0]);
  const renamed = Array.from({ length: rounds }, () => ours(files, 1));
  if (renamed.some(({ rows }) => rows.join() !== kept)) {
    throw new Error('names of columns change the output');
  }
  const other = best(renamed.map(({ cost }) => cost));
  row(size, 'ours, 1 thread, ts,host,gpu,util', ...cells(other, size, duck.cpu_s));
  if (withGz) {
    execFileSync('gzip', ['-1', files[0]]);
    const packed = ours([`${files[0]}.gz`, ...files.slice(1)], 2);
    const bytes = fixed(statSync(`${files[0]}.gz`).size / 1e6, 0);
    row(size, `ours, 2 threads, ${bytes} MB gz`, ...cells(packed.cost, size, duck.cpu_s));
    const gunzip = cpuOf('gunzip', `-c ${files[0]}.gz`);
    row(size, 'gunzip alone', fixed(gunzip), '', '', fixed(size / gunzip / 1e6),
      fixed(duck.cpu_s / gunzip, 1));
  }
  rmSync(folder, { recursive: true });
}
if (jobs > 0) {
  const folder = join(work, 'scan-jobs');
  mkdirSync(folder, { recursive: true });
  execFileSync(join(build, 'bench/scan_generate'), [folder, 0, 704, jobs]);
  const { cost } = ours([join(folder, 'sacct_many.txt')], 2);
  console.log(`\n${cost.jobs} jobs without samples: ${fixed(cost.cpu_s)} s of CPU, `
    + `${fixed(cost.wall_s)} s by the clock, ${fixed(cost.rss_mb, 0)} MB`);
  rmSync(folder, { recursive: true });
}
