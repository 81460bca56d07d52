'use strict';
// Drives a page in Chromium over its debugging pipe, as a person would, and prints what was seen.
// node page_driver.js CHROMIUM PAGE.html PICTURE.png
const { spawn } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const [, , program, page, picture] = process.argv;
const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'amdahl-page-'));
const browser = spawn(program, [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
  '--remote-debugging-pipe', '--window-size=1200,900', `--user-data-dir=${profile}`,
  '--no-first-run', '--disable-extensions', 'about:blank',
], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });

let next = 0;
let rest = '';
const waiting = new Map();
const errors = [];
browser.stdio[4].on('data', (bytes) => {
  rest += bytes.toString('utf8');
  for (let end = rest.indexOf('\0'); end >= 0; end = rest.indexOf('\0')) {
    const message = JSON.parse(rest.slice(0, end));
    rest = rest.slice(end + 1);
    if (message.method === 'Runtime.exceptionThrown') {
      errors.push(message.params.exceptionDetails.text);
    }
    if (message.method === 'Network.requestWillBeSent') {
      const url = message.params.request.url;
      if (!url.startsWith('file:') && !url.startsWith('data:')) errors.push('loads ' + url);
    }
    const done = waiting.get(message.id);
    if (done) {
      waiting.delete(message.id);
      done(message.result || { error: message.error });
    }
  }
});

function send(method, params = {}, sessionId = undefined) {
  const id = ++next;
  browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
  return new Promise((resolve) => waiting.set(id, resolve));
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function main() {
  const { targetInfos } = await send('Target.getTargets');
  const target = targetInfos.find((info) => info.type === 'page');
  const { sessionId } =
      await send('Target.attachToTarget', { targetId: target.targetId, flatten: true });
  const call = (method, params) => send(method, params, sessionId);
  const ask = async (expression) =>
    (await call('Runtime.evaluate', { expression, returnByValue: true })).result.value;
  await call('Runtime.enable');
  await call('Network.enable');
  await call('Page.enable');
  await call('Page.navigate', { url: 'file://' + path.resolve(page) });
  for (let i = 0; i < 300 && await ask('document.body && document.body.dataset.ready') !== 'yes';
       ++i) {
    await pause(100);
  }
  // The view after the frame in which it is drawn anew.
  const view = async () => {
    await ask('new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))');
    await pause(50);
    return (await ask('document.body.dataset.view')).split(' ').map(Number);
  };
  const seen = { ready: await ask('document.body.dataset.ready') };
  seen.title = await ask('document.title');
  seen.drawn = Number(await ask('document.body.dataset.drawn'));
  await ask("document.getElementById('frame').scrollIntoView({block: 'center'})");
  const box = JSON.parse(await ask(
      "JSON.stringify(document.getElementById('frame').getBoundingClientRect())"));
  const x = box.left + box.width * .6;
  const y = Math.max(box.top, 0) + 30;  // In the first lane.
  const mouse = (type, more) => call('Input.dispatchMouseEvent', { type, x, y, ...more });
  seen.whole = await view();
  for (let i = 0; i < 5; ++i) await mouse('mouseWheel', { deltaX: 0, deltaY: -400 });
  seen.zoomed = await view();
  await mouse('mousePressed', { button: 'left', clickCount: 1 });
  await mouse('mouseMoved', { x: x - 120, button: 'left', buttons: 1 });
  await mouse('mouseReleased', { x: x - 120, button: 'left', clickCount: 1 });
  seen.dragged = await view();
  const key = async (name) => {
    await call('Input.dispatchKeyEvent', { type: 'keyDown', key: name });
    await call('Input.dispatchKeyEvent', { type: 'keyUp', key: name });
  };
  await key('ArrowLeft');
  seen.moved = await view();
  await key('0');
  seen.again = await view();
  await mouse('mouseMoved', {});
  await mouse('mouseMoved', { x: x + 1 });
  seen.tip = await ask("document.getElementById('tip').textContent");
  await ask("(() => { const s = document.getElementById('search'); s.value = 'DataLoader';" +
            "s.dispatchEvent(new Event('input')); })()");
  seen.found = await ask("document.getElementById('found').textContent");
  const colour = () => ask(
      "getComputedStyle(document.documentElement).getPropertyValue('--ground').trim()");
  const theme = async (value) => {
    await call('Emulation.setEmulatedMedia',
               { features: [{ name: 'prefers-color-scheme', value }] });
    return colour();
  };
  seen.light = await theme('light');
  seen.dark = await theme('dark');
  // That something is painted: the canvas must not be of one colour.
  seen.colours = await ask(`(() => {
    const c = document.getElementById('timeline');
    const d = c.getContext('2d').getImageData(0, 0, c.width, Math.min(c.height, 400)).data;
    const set = new Set();
    for (let i = 0; i < d.length; i += 4) set.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
    return set.size; })()`);
  const shot = await call('Page.captureScreenshot', { format: 'png' });
  fs.writeFileSync(picture, Buffer.from(shot.data, 'base64'));
  seen.errors = errors;
  console.log(JSON.stringify(seen));
}

const limit = setTimeout(() => {
  console.error('the browser did not answer within a minute');
  browser.kill('SIGKILL');
  process.exit(3);
}, 60000);
main().catch((error) => { console.error(error); process.exitCode = 3; }).finally(() => {
  clearTimeout(limit);
  // Helpers of the browser may write for a moment longer; what they leave is no failure of the page.
  browser.once('exit', () => {
    try {
      fs.rmSync(profile, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
    } catch (error) {
      console.error(`${profile} is left: ${error.message}`);
    }
  });
  browser.kill();
});
