import type { ArtifactStore } from '../../app/ports/content-stores.ts';
import { readOutputs } from '../../app/sessions/read-outputs.ts';
import { defined } from '../../core/json/json-value.ts';
import { placeData } from '../../core/sessions/describe-session.ts';
import type { LineOutputs } from '../../core/sessions/line-outputs.ts';
import type { Picture } from '../../core/sessions/run-lines.ts';
import { sizeOf } from '../../core/text/words.ts';
import type { EntryData } from '../../core/wire/session-shapes.ts';
import { bad, dim, type Line, type LineSpan, strong } from '../output/line.ts';
import { placeWords } from './run-words.ts';

const ARTIFACT_LINES_MAX = 40;

/** What was sent for each step, with the content of artifacts. */
export async function entriesData(
  artifacts: ArtifactStore,
  { placeOf }: Pick<Picture, 'placeOf'>,
  outputs: readonly LineOutputs[],
): Promise<EntryData[]> {
  const entries: EntryData[] = [];
  for (const { dueAt, kind, outputs: sent, superseded } of outputs) {
    const read = await readOutputs(artifacts, sent);
    entries.push({
      nodeId: dueAt,
      place: placeData(placeOf(dueAt)),
      kind,
      outputs: read.map((one) =>
        one.kind === 'note'
          ? { kind: 'note', text: one.text, ...(superseded.has(one.outputId) ? { isSuperseded: true } : {}) }
          : {
              kind: 'artifact',
              sha256: one.sha256,
              bytes: one.byteLength,
              ...defined({ value: one.value }),
            },
      ),
    });
  }
  return entries;
}

/** One heading per step; notes as quotations, so that none can imitate a heading, and artifacts as indented JSON. */
export function entryLines(entries: readonly EntryData[], isWhole: boolean): readonly Line[] {
  return entries.flatMap((entry): Line[] => [
    [''],
    [strong(`## ${placeWords(entry.place)}`), ...(entry.kind === 'checkpoint' ? [dim('  ◆ checkpoint')] : [])],
    ...entry.outputs.flatMap((output): readonly Line[] =>
      output.kind === 'note' ? [[''], ...noteLines(output)] : [[''], ...artifactLines(output, isWhole)],
    ),
  ]);
}

function noteLines({ text, isSuperseded }: Extract<EntryData['outputs'][number], { kind: 'note' }>) {
  const lines = textLines(text);
  return isSuperseded === true
    ? [[dim('(replaced by a later note)')], ...lines.map((line) => line.map(dimmed))]
    : lines;
}

function dimmed(span: LineSpan): LineSpan {
  return dim(typeof span === 'string' ? span : span.text);
}

function textLines(text: string): readonly Line[] {
  return text
    .trimEnd()
    .split(/\r\n|[\n\r]/)
    .map((line) => [dim('> '), line.replaceAll('\t', '  ')]);
}

type ArtifactData = Extract<EntryData['outputs'][number], { kind: 'artifact' }>;

function artifactLines({ value, bytes, sha256 }: ArtifactData, isWhole: boolean): readonly Line[] {
  const kind = typeof value?.['kind'] === 'string' ? value['kind'] : 'artifact';
  const heading = dim(`[${kind}, ${sizeOf(bytes)}]`);
  if (value === undefined) {
    return [[heading, bad(` cannot be read: it is missing or damaged (${sha256})`)]];
  }
  const lines = JSON.stringify(value, undefined, 2).split('\n');
  const shown = isWhole ? lines : lines.slice(0, ARTIFACT_LINES_MAX);
  const more = lines.length - shown.length;
  return [
    [heading],
    ...shown.map((line): Line => [`  ${line}`]),
    ...(more > 0 ? [[dim(`  … ${more} more lines. Add --verbose to see them.`)]] : []),
  ];
}
