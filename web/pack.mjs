// Packs what vite built into one file for the server: a line of JSON that lists the files, then their bytes,
// gzipped. `node pack.mjs DIST OUT`.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';

const kTypes = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' };
const kMost = 150_000; // Bytes in all, gzipped: a dashboard should open at once.

const [, , root, out] = process.argv;
const walk = (folder) =>
  readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? walk(path) : [path];
    });

const files = walk(root).map((path) => {
  const type = kTypes[path.split('.').pop()];
  if (!type) throw new Error(`${path}: no type is known for this ending`);
  // A time in the header would make every build another one.
  return { path: '/' + relative(root, path), type, bytes: gzipSync(readFileSync(path), { level: 9 }) };
});
const total = files.reduce((sum, file) => sum + file.bytes.length, 0);
if (total > kMost) throw new Error(`the dashboard has ${total} bytes gzipped, more than ${kMost}`);
const list = files.map(({ path, type, bytes }) => ({ path, type, size: bytes.length }));
writeFileSync(out, Buffer.concat([Buffer.from(JSON.stringify(list) + '\n'), ...files.map((file) => file.bytes)]));
console.log(`dashboard: ${files.length} files, ${total} bytes gzipped`);
