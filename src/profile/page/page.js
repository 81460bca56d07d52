'use strict';
// The timeline of a trace: lanes of boxes on a canvas. Times are nanoseconds since the beginning.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const canvas = document.getElementById('timeline');
  const frame = document.getElementById('frame');
  const lanes = document.getElementById('lanes');
  const tip = document.getElementById('tip');
  const box = document.getElementById('search');
  const found = document.getElementById('found');
  const context = canvas.getContext('2d');
  const ROW = 16, GAP = 6, LABEL = 190, AXIS = 22;
  const whole = Math.max(1, data.span);
  const view = { from: 0, to: whole };
  let matches = null;  // Names that match the search.
  let colours = {};
  let pointer = null;

  // Each row of a lane holds parallel arrays in order of time.
  const rows = [];
  let height = AXIS;
  for (const lane of data.lanes) {
    lane.y = height;
    const of = [];
    for (let i = 0; i < lane.rows; ++i) {
      of.push({ lane, y: height + i * ROW, from: [], to: [], name: [], why: [], count: [] });
    }
    let at = 0;
    for (let i = 0; i < lane.boxes.length; i += 6) {
      const depth = lane.boxes[i + 4];
      at += lane.boxes[i];
      const row = of[depth];
      row.from.push(at);
      row.to.push(at + lane.boxes[i + 1]);
      row.name.push(lane.boxes[i + 2]);
      row.why.push(lane.boxes[i + 3]);
      row.count.push(lane.boxes[i + 5]);
    }
    rows.push(...of);
    height += lane.rows * ROW + GAP;
  }

  function time(ns) {
    const size = Math.abs(ns);
    if (size >= 1e9) return (ns / 1e9).toPrecision(4) + ' s';
    if (size >= 1e6) return (ns / 1e6).toPrecision(4) + ' ms';
    if (size >= 1e3) return (ns / 1e3).toPrecision(4) + ' µs';
    return Math.round(ns) + ' ns';
  }

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const why of data.whys) colours[why] = style.getPropertyValue('--' + why).trim();
    for (const name of ['ink', 'soft', 'line', 'row', 'match', 'card']) {
      colours[name] = style.getPropertyValue('--' + name).trim();
    }
  }

  const width = () => canvas.clientWidth - LABEL;
  const toX = (t) => LABEL + (t - view.from) / (view.to - view.from) * width();
  const toTime = (x) => view.from + (x - LABEL) / width() * (view.to - view.from);

  // The first box that ends after a time.
  function firstAfter(row, t) {
    let low = 0, high = row.to.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row.to[middle] <= t) low = middle + 1; else high = middle;
    }
    return low;
  }

  // Lines first, words last: lanes scroll below the words.
  function drawAxis(words) {
    const wanted = (view.to - view.from) / Math.max(2, width() / 110);
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(1, wanted))));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= wanted) || power * 10;
    if (words) {
      context.fillStyle = colours.card;
      context.fillRect(0, 0, canvas.clientWidth, AXIS);
    }
    context.fillStyle = colours.soft;
    context.strokeStyle = colours.line;
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = Math.round(toX(t)) + .5;
      if (words) {
        context.fillText(time(t), x + 3, 14);
        continue;
      }
      context.beginPath();
      context.moveTo(x, AXIS);
      context.lineTo(x, canvas.clientHeight);
      context.stroke();
    }
  }

  function drawRow(row) {
    let drawn = 0, lastX = -1;
    for (let i = firstAfter(row, view.from); i < row.from.length && row.from[i] < view.to; ++i) {
      const x = Math.max(LABEL, toX(row.from[i]));
      const end = Math.min(canvas.clientWidth, toX(row.to[i]));
      const matched = matches !== null && matches.has(row.name[i]);
      // What falls on one pixel is drawn once, but a match is never hidden.
      if (Math.floor(end) === lastX && end - x < 1 && !matched) continue;
      lastX = Math.floor(end);
      context.globalAlpha = matches === null || matched ? 1 : .25;
      context.fillStyle = matched ? colours.match : colours[data.whys[row.why[i]]];
      context.fillRect(x, row.y, Math.max(1, end - x), ROW - 2);
      ++drawn;
      if (end - x > 40) {
        context.fillStyle = colours.card;
        const text = data.names[row.name[i]];
        const fits = Math.floor((end - x - 6) / 6.2);
        context.fillText(text.length > fits ? text.slice(0, Math.max(0, fits - 1)) + '…' : text,
                         x + 3, row.y + ROW - 5);
      }
    }
    context.globalAlpha = 1;
    return drawn;
  }

  // The canvas is as high as what can be seen: a page of many ranks is higher than canvases may be.
  function draw() {
    const scale = window.devicePixelRatio || 1;
    lanes.style.height = height + 'px';
    const seen = frame.clientHeight;
    const top = frame.scrollTop;
    canvas.style.height = seen + 'px';
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round(seen * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = '11px system-ui, sans-serif';
    context.clearRect(0, 0, canvas.clientWidth, seen);
    drawAxis(false);
    context.translate(0, -top);
    let drawn = 0;
    for (const row of rows) {
      if (row.y + ROW > top && row.y < top + seen) drawn += drawRow(row);
    }
    for (const lane of data.lanes) {
      if (lane.y + lane.rows * ROW < top || lane.y > top + seen) continue;
      context.fillStyle = colours.card;
      context.fillRect(0, lane.y - 1, LABEL, lane.rows * ROW + 2);
      context.fillStyle = colours.ink;
      const text = lane.name.length > 31 ? lane.name.slice(0, 30) + '…' : lane.name;
      context.fillText(text, 4, lane.y + ROW - 5);
    }
    context.translate(0, top);
    drawAxis(true);
    document.body.dataset.drawn = drawn;
    document.body.dataset.view = view.from + ' ' + view.to;
  }

  let asked = false;
  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }

  function look(from, to) {
    const span = Math.min(whole, Math.max(10, to - from));
    view.from = Math.min(Math.max(0, from), whole - span);
    view.to = view.from + span;
    redraw();
  }
  function zoom(factor, around) {
    look(around - (around - view.from) * factor, around + (view.to - around) * factor);
  }
  const move = (part) => {
    const by = (view.to - view.from) * part;
    look(view.from + by, view.to + by);
  };

  function boxAt(x, y) {
    if (x < LABEL) return null;
    const t = toTime(x);
    const slack = (view.to - view.from) / width() * 2;
    for (const row of rows) {
      if (y < row.y || y >= row.y + ROW) continue;
      const i = firstAfter(row, t - slack);
      if (i < row.from.length && row.from[i] <= t + slack) return { row, i };
    }
    return null;
  }

  function showTip(event) {
    const bounds = canvas.getBoundingClientRect();
    const y = event.clientY - bounds.top;
    const hit = y < AXIS ? null : boxAt(event.clientX - bounds.left, y + frame.scrollTop);
    if (hit === null) { tip.style.display = 'none'; return; }
    const { row, i } = hit;
    const count = row.count[i];
    const lines = [
      data.names[row.name[i]] || 'between operators',
      `${time(row.to[i] - row.from[i])} from ${time(row.from[i])}: ` +
          data.words[row.why[i]] + (count > 1 ? ` (${count} events drawn as one)` : ''),
      row.lane.name];
    tip.replaceChildren(...lines.map((line) => {
      const part = document.createElement('div');
      part.textContent = line;
      return part;
    }));
    tip.style.display = 'block';
    tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + 'px';
  }

  function search(text) {
    const wanted = text.trim().toLowerCase();
    if (wanted === '') {
      matches = null;
      found.textContent = '';
      redraw();
      return;
    }
    matches = new Set();
    data.names.forEach((name, i) => { if (name.toLowerCase().includes(wanted)) matches.add(i); });
    let boxes = 0, sum = 0;
    for (const row of rows) {
      if (row.lane.repeats) continue;
      for (let i = 0; i < row.from.length; ++i) {
        if (matches.has(row.name[i])) { ++boxes; sum += row.to[i] - row.from[i]; }
      }
    }
    found.textContent = `${boxes} boxes, ${time(sum)}`;
    redraw();
  }

  // To the next match after the middle of the view, around to the first.
  function next() {
    if (matches === null || matches.size === 0) return;
    const middle = (view.from + view.to) / 2;
    let best = null, first = null;
    for (const row of rows) {
      for (let i = 0; i < row.from.length; ++i) {
        if (!matches.has(row.name[i])) continue;
        const at = (row.from[i] + row.to[i]) / 2;
        if (first === null || at < first) first = at;
        if (at > middle + 1 && (best === null || at < best)) best = at;
      }
    }
    const at = best === null ? first : best;
    if (at === null) return;
    const half = (view.to - view.from) / 2;
    look(at - half, at + half);
  }

  canvas.addEventListener('wheel', (event) => {
    if (event.shiftKey) return;
    event.preventDefault();
    const x = event.clientX - canvas.getBoundingClientRect().left;
    zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * .002))), toTime(Math.max(LABEL, x)));
  }, { passive: false });
  canvas.addEventListener('pointerdown', (event) => {
    pointer = { x: event.clientX, y: event.clientY, from: view.from, top: frame.scrollTop };
    canvas.setPointerCapture(event.pointerId);
    canvas.focus();
  });
  canvas.addEventListener('pointermove', (event) => {
    if (pointer === null) { showTip(event); return; }
    const by = (event.clientX - pointer.x) / width() * (view.to - view.from);
    frame.scrollTop = pointer.top - (event.clientY - pointer.y);
    look(pointer.from - by, pointer.from - by + (view.to - view.from));
  });
  canvas.addEventListener('pointerup', () => { pointer = null; });
  canvas.addEventListener('pointerleave', () => { tip.style.display = 'none'; });
  canvas.addEventListener('dblclick', (event) => {
    const hit = boxAt(event.offsetX, event.offsetY + frame.scrollTop);
    if (hit === null) return;
    const { row, i } = hit;
    const margin = (row.to[i] - row.from[i]) * .1;
    look(row.from[i] - margin, row.to[i] + margin);
  });
  document.addEventListener('keydown', (event) => {
    if (event.target === box) {
      if (event.key === 'Enter') next();
      if (event.key === 'Escape') { box.value = ''; search(''); canvas.focus(); }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (view.from + view.to) / 2;
    const keys = {
      '+': () => zoom(.5, middle), '=': () => zoom(.5, middle), w: () => zoom(.5, middle),
      '-': () => zoom(2, middle), s: () => zoom(2, middle),
      ArrowLeft: () => move(-.2), a: () => move(-.2), ArrowRight: () => move(.2),
      d: () => move(.2), '0': () => look(0, whole), Home: () => look(0, whole), n: next,
      '/': () => box.focus(),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  box.addEventListener('input', () => search(box.value));
  document.getElementById('all').addEventListener('click', () => look(0, whole));
  document.getElementById('in').addEventListener(
      'click', () => zoom(.5, (view.from + view.to) / 2));
  document.getElementById('out').addEventListener(
      'click', () => zoom(2, (view.from + view.to) / 2));
  frame.addEventListener('scroll', redraw);
  window.addEventListener('resize', redraw);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener(
      'change', () => { readColours(); redraw(); });

  readColours();
  draw();
  document.body.dataset.ready = 'yes';
})();
