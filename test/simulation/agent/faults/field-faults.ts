import { type Fault, outputOf, type Scene, withArguments, wrongCall } from './fault.ts';

const SPELLINGS: { readonly [name: string]: readonly string[] } = {
  ackToken: ['ack_token', 'acktoken', 'AckToken', 'ackTokn', 'token', 'ack', 'continueToken'],
  output: ['outputs', 'Output', 'ouput'],
  context: ['contexts', 'Context', 'contxt'],
};
const NOTE_SPELLINGS = ['notes_markdown', 'noteMarkdown', 'notesMarkDown', 'notesMarkdwn', 'NotesMarkdown'];
const ARTIFACT_SPELLINGS = ['artifact', 'artefacts', 'Artifacts'];

/** Arguments that are missing, misnamed or of the wrong shape. */
export const FIELD_FAULTS: readonly Fault[] = [
  { name: 'token left out', slip: (scene) => wrongCall(scene, withArguments(scene.good, { ackToken: undefined })) },
  { name: 'output left out', slip: (scene) => wrongCall(scene, withArguments(scene.good, { output: undefined })) },
  { name: 'argument misnamed', slip: (scene) => wrongCall(scene, misnamed(scene)) },
  { name: 'field of output misnamed', slip: (scene) => wrongCall(scene, misnamedField(scene)) },
  { name: 'JSON sent as text', slip: (scene) => wrongCall(scene, asText(scene)) },
  { name: 'JSON cut off', slip: (scene) => wrongCall(scene, cutOff(scene)) },
  { name: 'wrong shape', slip: (scene) => wrongCall(scene, misshapen(scene)) },
  { name: 'output at the top', slip: (scene) => wrongCall(scene, atTheTop(scene)) },
  { name: 'unknown argument', slip: (scene) => wrongCall(scene, withUnknown(scene)) },
  { name: 'claims to be done', slip: (scene) => wrongCall(scene, claimingDone(scene)) },
  { name: 'unknown tool', slip: (scene) => wrongCall(scene, withOtherTool(scene)) },
];

function misnamed({ good, random }: Scene) {
  const name = random.pick(Object.keys(good.arguments));
  const spelling = random.pick(SPELLINGS[name] ?? [`${name}s`]);
  return withArguments(good, { [name]: undefined, [spelling]: good.arguments[name] });
}

function misnamedField({ good, random }: Scene) {
  const { notesMarkdown, artifacts } = outputOf(good);
  if (notesMarkdown !== undefined && (artifacts === undefined || random.chance(0.5))) {
    return withArguments(good, {
      output: { [random.pick(NOTE_SPELLINGS)]: notesMarkdown, ...(artifacts && { artifacts }) },
    });
  }
  if (artifacts === undefined) return undefined;
  return withArguments(good, {
    output: { ...outputOf(good), artifacts: undefined, [random.pick(ARTIFACT_SPELLINGS)]: artifacts },
  });
}

function asText({ good, random }: Scene) {
  const { output, context } = good.arguments;
  const { artifacts } = outputOf(good);
  const ways = [
    ...(output === undefined
      ? []
      : [{ output: JSON.stringify(output) }, { output: JSON.stringify(JSON.stringify(output)) }]),
    ...(artifacts === undefined ? [] : [{ output: { ...outputOf(good), artifacts: JSON.stringify(artifacts) } }]),
    ...(artifacts === undefined
      ? []
      : [{ output: { ...outputOf(good), artifacts: artifacts.map((one) => JSON.stringify(one)) } }]),
    ...(context === undefined ? [] : [{ context: JSON.stringify(context) }]),
  ];
  return ways.length === 0 ? undefined : withArguments(good, random.pick(ways));
}

function cutOff({ good, random }: Scene) {
  if (good.arguments['output'] === undefined) return undefined;
  const text = JSON.stringify(good.arguments['output']);
  return withArguments(good, { output: text.slice(0, 1 + random.below(text.length - 1)) });
}

function misshapen({ good, random }: Scene) {
  const { notesMarkdown, artifacts } = outputOf(good);
  const { ackToken } = good.arguments;
  const ways = [
    { ackToken: [ackToken] },
    { ackToken: { ackToken } },
    ...(notesMarkdown !== undefined && artifacts === undefined
      ? [{ output: notesMarkdown }, { output: { notesMarkdown: [notesMarkdown] } }, { output: [notesMarkdown] }]
      : []),
    ...(artifacts?.length === 1 ? [{ output: { ...outputOf(good), artifacts: artifacts[0] } }] : []),
    ...(artifacts === undefined || notesMarkdown !== undefined ? [] : [{ output: artifacts }]),
  ];
  return withArguments(good, random.pick(ways));
}

function atTheTop({ good, random }: Scene) {
  const { notesMarkdown, artifacts } = outputOf(good);
  if (notesMarkdown === undefined && artifacts === undefined) return undefined;
  const notes = notesMarkdown === undefined ? {} : { [random.pick(['notes', 'notesMarkdown'])]: notesMarkdown };
  return withArguments(good, { output: undefined, ...notes, ...(artifacts === undefined ? {} : { artifacts }) });
}

function withUnknown({ good, random, at }: Scene) {
  const ways = [
    { sessionId: at.sessionId },
    { reason: 'It is done.' },
    { foo: 1 },
    { workflowId: at.workflowId },
    { stepNumber: 3 },
  ];
  return withArguments(good, random.pick(ways));
}

function claimingDone({ good, random }: Scene) {
  const ways = [
    { isComplete: true },
    { stepId: 'the-last-step', status: 'done' },
    { completedSteps: ['one', 'two', 'three'] },
    { nextStep: 'complete' },
    { skipTo: 'report' },
  ];
  return withArguments(good, random.pick(ways));
}

function withOtherTool({ good, random }: Scene) {
  const tool = random.pick([
    'continue-workflow',
    'continueWorkflow',
    'continue_workflows',
    'workrail_continue_workflow',
    'continue',
  ]);
  return { ...good, tool };
}
