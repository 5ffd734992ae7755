import { readdirSync, readFileSync } from 'node:fs';

/** What a page tells its reader to type, and the JSON it shows. */
export type Page = {
  readonly path: string;
  readonly text: string;
  readonly commands: readonly string[];
  readonly json: readonly string[];
};

/** Every page that people read, but for those that are generated. */
export function writtenPages(): readonly Page[] {
  const guides = ['docs/guides', 'docs/questions'].flatMap((folder) =>
    readdirSync(folder).map((name) => `${folder}/${name}`),
  );
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'docs/index.md',
    'docs/start.md',
    'integrations/claude-code/README.md',
    'examples/README.md',
    ...guides,
  ];
  return pages.filter((path) => path.endsWith('.md')).map(readPage);
}

function readPage(path: string): Page {
  const text = readFileSync(path, 'utf8');
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind = '', body = '']) => ({ kind, body }));
  const of = (kind: string) => blocks.filter((block) => block.kind === kind).map(({ body }) => body);
  const lines = of('sh').flatMap((body) => body.split('\n'));
  return {
    path,
    text,
    commands: lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')),
    json: of('json'),
  };
}
