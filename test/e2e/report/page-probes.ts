/**
 * Run inside of the page, so they are texts: this project knows no browser. Gives every text whose contrast with what
 * is behind it is too low, as `text: ratio`.
 */
export const LOW_CONTRAST = `(() => {
  const channels = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
  const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = (rgb) => { const [r, g, b] = rgb.map(linear); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(channels(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => (layer.length < 3 ? below : over(layer, below)), [255, 255, 255]);
  };
  const low = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (text === '' || element.closest('style')) continue;
    seen += 1;
    const background = behind(element);
    const [light, dark] = [luminance(over(channels(getComputedStyle(element).color), background)), luminance(background)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) low.push(text.slice(0, 40) + ': ' + ratio.toFixed(2));
  }
  return { seen, low };
})()`;

/** What a page may hold that does something, and what a reader is told by its structure. */
export const ANATOMY = `({
  active: [...document.querySelectorAll('script, img, iframe, object, embed, link, base, form, video, audio, body style, .note svg, foreignObject, animate')].map((it) => it.outerHTML),
  handlers: [...document.querySelectorAll('*')].flatMap((it) => [...it.attributes]).filter(({ name }) => name.startsWith('on') || name === 'style').map(({ name }) => name),
  links: [...new Set([...document.querySelectorAll('[href]')].map((it) => new URL(it.href).protocol + (it.getAttribute('href').startsWith('#') ? '#' : '')))].sort(),
  dangling: [...document.querySelectorAll('[href^="#"]')].filter((it) => !document.getElementById(it.getAttribute('href').slice(1))).length,
  doubled: [...document.querySelectorAll('[id]')].length - new Set([...document.querySelectorAll('[id]')].map((it) => it.id)).size,
  owned: window.owned ?? null,
  bidi: /[\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f]/.test(document.documentElement.outerHTML),
  title: document.title,
  lang: document.documentElement.lang,
  landmarks: ['body > header', 'main', 'footer', 'h1'].map((it) => document.querySelectorAll(it).length),
  headings: [...document.querySelectorAll('h1, h2, h3, h4')].map((it) => it.innerText).filter((text) => text.includes('Not a heading')),
  graphs: document.querySelectorAll('.graph > svg[role=img]').length,
  isStyled: getComputedStyle(document.body).margin === '0px',
})`;
