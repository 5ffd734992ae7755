import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { noteHtml } from '../html/note-html.ts';
import { blocksSource, noteMarkdown } from '../markdown/note-markdown.ts';
import { parseNote } from './parse-note.ts';

const html = (markdown: string) => noteHtml(markdown).replaceAll('\n', '');
const markdown = (text: string) => noteMarkdown(text).join('\n');

describe('notes in reports', () => {
  it('a note keeps its headings, lists, tables, code and links', () => {
    expect(html('# A\n\none **two** *three* ~~four~~ `five`\nsix\n\n---')).toBe(
      '<h5>A</h5><p>one <strong>two</strong> <em>three</em> <del>four</del> <code>five</code>six</p><hr>',
    );
    expect(html('- a\n- b\n  1. c\n\n     d\n\n> q\n> r')).toBe(
      '<ul><li>a</li><li>b<ol start="1"><li>c<p>d</p></li></ol></li></ul><blockquote><p>qr</p></blockquote>',
    );
    expect(html('| a | b |\n| --- | :-: |\n| `1` | x\\|y |')).toContain(
      '<thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>1</code></td><td>x|y</td></tr></tbody>',
    );
    expect(html('```ts\na < b\n# no heading\n```')).toBe('<pre tabindex="0"><code>a &lt; b# no heading</code></pre>');
    expect(html('[a](https://a.example/x(1)?b=1&c "t"), <mailto:a@b.example>, https://c.example/d.')).toBe(
      '<p><a href="https://a.example/x(1)?b=1&amp;c" rel="noopener noreferrer nofollow">a</a>, ' +
        '<a href="mailto:a@b.example" rel="noopener noreferrer nofollow">mailto:a@b.example</a>, ' +
        '<a href="https://c.example/d" rel="noopener noreferrer nofollow">https://c.example/d</a>.</p>',
    );
    expect(html('snake_case_name and 2 * 3 * 4 and **open')).toBe('<p>snake_case_name and 2 * 3 * 4 and **open</p>');
  });

  it('a note cannot add a tag, a link other than web or mail, or text that changes direction', () => {
    enforces('report_notes_inert');
    const hostile = [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](//evil.example)',
      '[f](https://a.example"onmouseover="alert(1)) [g](https://a.example/<b>)',
      '![h](https://evil.example/pixel.png) ![i](data:image/svg+xml,x)',
      '<style>*{display:none}</style><svg onload=alert(1)></svg><!-- ',
      '<javascript:alert(1)> <https://a.example/"onclick="x>',
      '\u202egnp.exe\u2066\u0000\u001b[2J',
    ].join('\n\n');
    const shown = html(hostile);
    const tags = [...shown.matchAll(/<\/?([a-z0-9]+)([^>]*)>/g)].map(([, tag, attributes]) => `${tag}${attributes}`);
    expect(new Set(tags)).toEqual(
      new Set([
        'p',
        'a',
        'a href="https://a.example/" rel="noopener noreferrer nofollow"',
        'a href="https://evil.example/pixel.png" rel="noopener noreferrer nofollow"',
      ]),
    );
    expect(shown).toContain('&lt;script&gt;');
    expect(shown).toContain('[U+202E]gnp.exe[U+2066][U+0000][U+001B][2J');
  });

  it('in Markdown, a note cannot end its quotation, become a heading of the report, or be HTML', () => {
    enforces('report_notes_inert');
    const hostile = '</details><h1>x</h1>\n\n# y\n\nz\n===\n\n---\n\n```\n> a\n\n# not closed';
    expect(markdown(hostile).split('\n')).toEqual([
      '> \\</details\\>\\<h1\\>x\\</h1\\>',
      '>',
      '> **y**',
      '>',
      '> **z**',
      '>',
      '> \\* \\* \\*',
      '>',
      '> ```',
      '> > a',
      '>',
      '> # not closed',
      '> ```',
    ]);
    expect(markdown('1986\\. A year\n+ plus\n&lt; $x$ a_b _c')).toBe(
      '> 1986\\. A year\n>\n> - plus\n>   \\&lt; \\$x\\$ a_b \\_c',
    );
  });

  it('a note that is written again as Markdown parses to the same blocks', () => {
    const word = fc.constantFrom(
      'a',
      'b_c',
      '*',
      '**',
      '_',
      '`',
      '``',
      '[',
      '](https://x.example)',
      '<b>',
      '#',
      '>',
      '-',
      '1.',
      '|',
      '\\',
      '&amp;',
      ' ',
      '\n',
      '\n\n',
      '```',
      '~~',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 24 }), (words) => {
        const lines = noteMarkdown(words.join(''));
        expect(lines.filter((line) => !line.startsWith('>'))).toEqual([]);
        const again = lines.map((line) => line.replace(/^> ?/, '')).join('\n');
        expect(textOf(html(again))).toBe(textOf(html(words.join(''))));
        expect(textOf(html(blocksSource(parseNote(words.join('')))))).toBe(textOf(html(words.join(''))));
      }),
    );
  });

  it('the time to parse a note grows with its length, even for endless brackets, marks, quotes, items or rows', () => {
    for (const piece of ['[a](', '_a*', '> - ', '- a\n']) {
      const text = piece.repeat(Math.ceil(262_144 / piece.length));
      expect(parseNote(text).length).toBeGreaterThan(0);
    }
    expect(parseNote(`|a|b|\n|-|-|\n${'|x|y|\n'.repeat(40_000)}`).length).toBe(1);
    expect(parseNote('A line of **ordinary** text.\n'.repeat(36_000)).length).toBe(1);
  });
});

/** What a reader sees, without layout. */
function textOf(shown: string): string {
  return shown
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s/g, '')
    .replaceAll('*', '');
}
