import { type Fault, outputOf, type Scene, withArguments, wrongCall } from './fault.ts';

const KIB = 1024;

/** Results that are missing, wrong or too large. */
export const OUTPUT_FAULTS: readonly Fault[] = [
  { name: 'notes missing', slip: (scene) => wrongCall(scene, withoutNotes(scene)) },
  { name: 'artifact missing', slip: (scene) => wrongCall(scene, withoutArtifacts(scene)) },
  { name: 'artifact invalid', slip: (scene) => wrongCall(scene, withInvalidArtifact(scene)) },
  { name: 'artifact of unknown kind', slip: (scene) => wrongCall(scene, withUnknownKind(scene)) },
  { name: 'artifact too large', slip: (scene) => wrongCall(scene, withHugeArtifact(scene)) },
  { name: 'notes too long', slip: (scene) => wrongCall(scene, withLongNotes(scene)) },
  { name: 'context too large', slip: (scene) => wrongCall(scene, withContext(scene, { dump: 'x'.repeat(300 * KIB) })) },
  { name: 'reserved context key', slip: (scene) => wrongCall(scene, withReservedKey(scene)) },
  {
    name: 'context is a list',
    slip: (scene) => wrongCall(scene, withArguments(scene.good, { context: ['depth', 'deep'] })),
  },
  { name: 'wrong mode word', slip: (scene) => wrongCall(scene, withArguments(scene.good, { mode: wrongMode(scene) })) },
];

function withoutNotes({ good, random }: Scene) {
  const { notesMarkdown, ...rest } = outputOf(good);
  if (notesMarkdown === undefined) return undefined;
  const output = random.pick([rest, { ...rest, notesMarkdown: '' }, { ...rest, notesMarkdown: '  \n' }]);
  return withArguments(good, { output });
}

function withoutArtifacts({ good, random }: Scene) {
  const { artifacts, ...rest } = outputOf(good);
  if (artifacts === undefined) return undefined;
  return withArguments(good, { output: random.pick([rest, { ...rest, artifacts: [] }]) });
}

function withInvalidArtifact({ good, random }: Scene) {
  const [first, ...rest] = outputOf(good).artifacts ?? [];
  if (first === undefined) return undefined;
  const name = random.pick(Object.keys(first));
  const { [name]: value, ...without } = first;
  const wrong = random.pick([
    without,
    { ...first, [name]: 17 },
    { ...first, [name]: 'no such word' },
    { ...first, [name]: [value] },
  ]);
  return withArguments(good, { output: { ...outputOf(good), artifacts: [wrong, ...rest] } });
}

function withUnknownKind({ good, random }: Scene) {
  const kind = random.pick(['my.report', 'review', 'wr.review_verdct', 'summary']);
  return withArguments(good, {
    output: { ...outputOf(good), artifacts: [...(outputOf(good).artifacts ?? []), { kind, data: 1 }] },
  });
}

function withHugeArtifact({ good, random }: Scene) {
  const huge = { kind: 'my.dump', text: 'x'.repeat(300 * KIB) };
  const many = Array.from({ length: 40 }, (_, i) => ({ kind: 'my.item', i }));
  const artifacts = [...(outputOf(good).artifacts ?? []), ...random.pick([[huge], many])];
  return withArguments(good, { output: { ...outputOf(good), artifacts } });
}

function withLongNotes({ good }: Scene) {
  const { notesMarkdown } = outputOf(good);
  if (notesMarkdown === undefined) return undefined;
  return withArguments(good, {
    output: { ...outputOf(good), notesMarkdown: `${notesMarkdown}\n${'All of it again. '.repeat(5000)}` },
  });
}

function withContext({ good }: Scene, more: Record<string, unknown>) {
  return withArguments(good, { context: { ...(good.arguments['context'] as object | undefined), ...more } });
}

function withReservedKey(scene: Scene) {
  const texts = [
    '{"__proto__":{"isAdmin":true}}',
    '{"constructor":"x"}',
    '{"a":{"prototype":[1]}}',
    '{"__proto__":1,"depth":"deep"}',
  ];
  return withContext(scene, JSON.parse(scene.random.pick(texts)) as Record<string, unknown>);
}

function wrongMode({ random }: Scene): string {
  return random.pick([
    'auto',
    'full-auto',
    'Guided',
    'never_stop',
    'FULL_AUTO_NEVER_STOP',
    'fullAutoNeverStop',
    'full_auto_stop_on_user_dep',
    'yolo',
  ]);
}
