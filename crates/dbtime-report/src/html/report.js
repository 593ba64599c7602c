'use strict';
// Widens the timeline of an opened transaction. It only moves what is drawn already; without it
// the page shows the same, unwidened. It holds no less-than sign and no ampersand: the page is XML.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  const UNITS = [[1e6, ' s'], [1e3, ' ms'], [1, ' µs'], [1e-3, ' ns']];
  const MOST = 1e5;

  const roundStep = rough => {
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * [1, 2, 5, 10].find(digit => digit * power >= rough * 0.999);
  };

  const label = (us, step, most) => {
    const [size, sign] = UNITS.find(unit => most >= unit[0]) || UNITS[3];
    const digits = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
    return (us / size).toFixed(digits) + sign;
  };

  const widen = plot => {
    const moment = plot.querySelector('.moment');
    const instants = plot.querySelector('.instants');
    const whole = Number(plot.dataset.us) || 1;
    const view = { from: 0, share: 1 };

    const draw = () => {
      moment.setAttribute('width', 100 / view.share + '%');
      moment.setAttribute('x', -100 * view.from / view.share + '%');
      const [start, end] = [view.from * whole, (view.from + view.share) * whole];
      const step = roundStep((end - start) / 6);
      instants.replaceChildren();
      for (let at = Math.ceil(start / step) * step; end >= at; at += step) {
        const text = document.createElementNS(SVG, 'text');
        const x = 100 * (at - start) / (end - start);
        text.setAttribute('x', x + '%');
        text.setAttribute('y', plot.getAttribute('height') - 5);
        text.setAttribute('text-anchor', 3 > x ? 'start' : x > 95 ? 'end' : 'middle');
        text.textContent = label(at, step, end);
        instants.append(text);
      }
      plot.dataset.zoom = (1 / view.share).toFixed(2);
    };

    const zoom = (factor, middle) => {
      const share = Math.min(1, Math.max(1 / MOST, view.share / factor));
      view.from += middle * (view.share - share);
      view.share = share;
      view.from = Math.min(1 - share, Math.max(0, view.from));
      draw();
    };

    const place = event => {
      const box = plot.getBoundingClientRect();
      return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    };

    plot.addEventListener('dblclick', event => zoom(4, place(event)));
    plot.addEventListener('wheel', event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 0.8 : 1.25, place(event));
    }, { passive: false });

    let held = null;
    plot.addEventListener('pointerdown', event => {
      held = place(event);
      plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener('pointermove', event => {
      if (held === null) return;
      const at = place(event);
      view.from = Math.min(1 - view.share, Math.max(0, view.from + (held - at) * view.share));
      held = at;
      draw();
    });
    const release = () => { held = null; };
    plot.addEventListener('pointerup', release);
    plot.addEventListener('pointercancel', release);
    return zoom;
  };

  const button = (text, title, act) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = text;
    made.title = title;
    made.addEventListener('click', act);
    return made;
  };

  document.addEventListener('toggle', event => {
    const opened = event.target;
    if (!opened.open) return;
    if (!opened.matches('details.tx')) return;
    const plot = opened.querySelector('.timeline');
    if (!plot) return;
    if (plot.dataset.zoom) return;
    const zoom = widen(plot);
    plot.dataset.zoom = '1.00';
    const bar = document.createElement('div');
    bar.className = 'zoom';
    bar.append(
      button('+', 'zoom in', () => zoom(2, 0.5)),
      button('−', 'zoom out', () => zoom(0.5, 0.5)),
      button('all', 'show all of it', () => zoom(1 / MOST, 0)),
      'double-click or Ctrl and wheel to zoom, drag to move'
    );
    plot.closest('.lanes').before(bar);
  }, true);
})();
