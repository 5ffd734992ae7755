import { type Fault, type Scene, withArguments, wrongCall } from './fault.ts';

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** Tokens that were miscopied, mixed up or made up. */
export const TOKEN_FAULTS: readonly Fault[] = [
  { name: 'token respelled', slip: (scene) => wrongCall(scene, changed(scene, respelled)) },
  { name: 'token with words around it', slip: (scene) => wrongCall(scene, changed(scene, inWords)) },
  { name: 'token miscopied', slip: (scene) => wrongCall(scene, changed(scene, miscopied)) },
  { name: 'token cut off', slip: (scene) => wrongCall(scene, changed(scene, cut)) },
  { name: 'token made up', slip: (scene) => wrongCall(scene, changed(scene, madeUp)) },
  { name: 'token of another kind', slip: (scene) => wrongCall(scene, ofOtherKind(scene)) },
  { name: 'state token with output', slip: (scene) => wrongCall(scene, stateWithOutput(scene)) },
  { name: 'state token of another step beside', slip: (scene) => wrongCall(scene, withOldState(scene)) },
  { name: 'token of another run beside', slip: (scene) => wrongCall(scene, withForeignToken(scene)) },
];

function changed({ good, random }: Scene, change: (token: string, random: Scene['random']) => string) {
  const { ackToken } = good.arguments;
  return typeof ackToken === 'string' ? withArguments(good, { ackToken: change(ackToken, random) }) : undefined;
}

function respelled(token: string, random: Scene['random']): string {
  const [prefix = '', rest = ''] = token.split('_');
  const middle = 4 + random.below(rest.length - 8);
  return random.pick([
    token.toUpperCase(),
    `"${token}"`,
    `\`${token}\``,
    `'${token}'`,
    ` ${token}\n`,
    `“${token}”`,
    `${prefix}\\_${rest}`,
    `${prefix}_${rest.replaceAll('0', 'O')}`,
    `${prefix}_${rest.replaceAll('1', 'l')}`,
    `${prefix}_${rest.slice(0, middle)} ${rest.slice(middle)}`,
    `${prefix}_${rest.slice(0, middle)}\n${rest.slice(middle)}`,
  ]);
}

function inWords(token: string, random: Scene['random']): string {
  return random.pick([
    `ackToken: ${token}`,
    `<${token}>`,
    `${token}.`,
    `(${token})`,
    `{"ackToken":"${token}"}`,
    `the token is ${token}`,
  ]);
}

function miscopied(token: string, random: Scene['random']): string {
  const [prefix = '', rest = ''] = token.split('_');
  const i = random.below(rest.length - 1);
  const other = random.pick([...BASE32].filter((letter) => letter !== rest[i]));
  return `${prefix}_${random.pick([
    `${rest.slice(0, i)}${other}${rest.slice(i + 1)}`,
    `${rest.slice(0, i)}${rest.slice(i + 1)}`,
    `${rest.slice(0, i)}${rest[i]}${rest.slice(i)}`,
    `${rest.slice(0, i)}${rest[i + 1]}${rest[i]}${rest.slice(i + 2)}`,
    `${rest.slice(0, i)}u${rest.slice(i + 1)}`,
  ])}`;
}

function cut(token: string, random: Scene['random']): string {
  const length = 20 + random.below(token.length - 21);
  return random.pick([token.slice(0, length), `${token.slice(0, length)}…`, `${token.slice(0, length)}...`]);
}

function madeUp(_: string, random: Scene['random']): string {
  const letters = Array.from({ length: 48 }, () => random.pick([...BASE32])).join('');
  return random.pick([`ack_${letters}`, 'ack_step_2', 'next', 'ackToken', 'ack_…']);
}

/** Without anything to record nobody can tell whether the step is done or only to be seen. */
function ofOtherKind({ good, at, random }: Scene) {
  if (Object.keys(good.arguments).length < 2) return undefined;
  const { stateToken, ackToken, checkpointToken } = at;
  return random.pick([
    withArguments(good, { ackToken: stateToken }),
    withArguments(good, { ackToken: checkpointToken }),
    withArguments(good, { ackToken: undefined, stateToken: ackToken }),
    withArguments(good, { ackToken: stateToken, stateToken: ackToken }),
    withArguments(good, { ackToken: checkpointToken, stateToken }),
  ]);
}

function stateWithOutput({ good, at: { stateToken } }: Scene) {
  const isPayload = Object.keys(good.arguments).length > 1;
  return isPayload ? withArguments(good, { ackToken: undefined, stateToken }) : undefined;
}

function withOldState({ good, past, random }: Scene) {
  return past.length === 0 ? undefined : withArguments(good, { stateToken: random.pick(past).at.stateToken });
}

function withForeignToken({ good, others, random }: Scene) {
  if (others.length === 0) return undefined;
  const { stateToken, ackToken, checkpointToken } = random.pick(others);
  return withArguments(good, { stateToken: random.pick([stateToken, ackToken, checkpointToken]) });
}
