import type { Assurance } from '../../log/autonomy.ts';
import { nearest } from '../../text/spelling.ts';
import type { Contract } from '../builtins/contract.ts';
import { contracts } from '../builtins/contracts.ts';
import { verificationReport } from '../builtins/report-contracts.ts';
import { gateVerdict, loopControl } from '../builtins/run-contracts.ts';
import { fieldNames, partOf } from '../builtins/shape.ts';
import type { Check, CompiledStep } from '../compiled/compiled-step.ts';
import { gatesOf } from '../compiled/condition-references.ts';
import { type CompilerFinding, unknownName } from '../diagnostics/diagnostic.ts';
import type { ExpandedStep } from '../expand/expanded.ts';
import { renderPrompt } from '../expand/render-prompt.ts';
import type { CheckSyntax } from '../format/check-fields.ts';
import type { FunctionCall } from '../format/function-fields.ts';
import type { StandardStep } from '../format/step-fields.ts';
import { pointerTo } from '../source/source-node.ts';
import { checkAssessmentReferences, checkIdLength } from './check-workflow.ts';
import type { Emission } from './emission.ts';

/** A step as it is pinned: its prompt one text, everything it refers to known to exist. */
export function emitStep(step: ExpandedStep, emission: Emission, scope: readonly string[]): CompiledStep {
  const { syntax } = step;
  const prompt = renderPrompt(syntax, emission);
  checkAssessmentReferences(syntax, emission);
  checkIdLength(syntax.id, syntax.at, emission);
  reportUnseen(step, prompt.text, { emission, scope });
  // A coordinator's verdict comes as an artifact.
  const isCoordinated = gatesOf(syntax.confirmation).some(({ kind }) => kind === 'coordinator_eval');
  if (isCoordinated) emission.contracts.set(gateVerdict.contractRef, gateVerdict);
  const agentRole = syntax.agentRole ?? emission.agentRole;
  return {
    stepId: syntax.id as CompiledStep['stepId'],
    title: syntax.title,
    prompt: prompt.text,
    ...(agentRole === undefined ? {} : { agentRole }),
    guidance: [...syntax.guidance],
    fragments: syntax.fragments.map(({ id, when, text }) => ({ id, when, text })),
    ...(syntax.runCondition === undefined ? {} : { runCondition: syntax.runCondition }),
    confirmation: syntax.confirmation,
    isNoteRequired: isNoteRequired(step),
    ...emitOutput(step, emission, scope),
    ...(syntax.criteria === undefined ? {} : { criteria: syntax.criteria }),
    assessmentIds: syntax.assessmentRefs.map(({ id }) => id),
    consequences: syntax.consequences.map(({ at: _, ...consequence }) => consequence),
    ...emitFunctions(syntax, scope, emission),
    ...emitUserDependency(syntax, emission),
    ...emitAssurance(syntax),
    ...(syntax.sets.length === 0 ? {} : { sets: [...syntax.sets] }),
    ...emitChecks(syntax, emission),
    ...emitAccounts(syntax, emission),
    purpose: step.purpose,
    provenance: step.provenance,
    refs: [...prompt.refs],
  };
}

/** Notes are asked of authored steps, unless the author lets them off or a contract takes their place. */
function isNoteRequired({ syntax, purpose }: ExpandedStep): boolean {
  const isInjected = purpose.kind === 'probe' || purpose.kind === 'loop_decision';
  return !isInjected && !syntax.isNotesOptional && syntax.output === undefined;
}

function emitOutput(
  { syntax: { output } }: ExpandedStep,
  emission: Emission,
  scope: readonly string[],
): Pick<CompiledStep, 'output'> {
  if (output === undefined) return {};
  if (output.contractRef === loopControl.contractRef && scope.length === 0 && !emission.isRoutine) {
    const message = `This step is not inside a loop, so nothing uses its decision. Move the step into the "body" of a loop, or use another contract.`;
    const at = `${output.at}/contractRef`;
    emission.findings.push({ code: 'loop_control_misplaced', severity: 'warning', at, message });
  }
  const contract = contracts.find(output.contractRef);
  if (contract === undefined) {
    const named = { name: output.contractRef, known: contracts.ids };
    emission.findings.push(unknownName('contract', `${output.at}/contractRef`, named));
    return {};
  }
  emission.contracts.set(contract.contractRef, contract);
  const { isRequired, hints } = output;
  return { output: { contractRef: contract.contractRef, isRequired, hints: [...hints] } };
}

/** What the step accounts for and what it collects, from lists that its artifact really has. */
function emitAccounts(
  { accountsFor, collects, output }: StandardStep,
  { findings }: Emission,
): Pick<CompiledStep, 'accountsFor' | 'collects'> {
  if (accountsFor.length === 0 && collects.length === 0) return {};
  const lists = listsOf(contracts.find(output?.contractRef ?? ''));
  const checkList = (name: string, at: string, known: readonly string[]) => {
    if (known.includes(name)) return;
    const has = known.length === 0 ? 'The step has no artifact with a list.' : `Possible are: ${known.join(', ')}.`;
    const message = `"${name}" is not a list of the step's artifact. ${has}`;
    findings.push({ code: 'wrong_value', severity: 'error', at, message, unknown: { name, known } });
  };
  for (const one of accountsFor) checkList(one.in, `${one.at}/in`, [...lists, NOTES]);
  for (const { list, at } of collects) checkList(list, `${at}/list`, lists);
  return {
    ...(accountsFor.length === 0
      ? {}
      : { accountsFor: accountsFor.map(({ context, prefix, in: where }) => ({ key: context, prefix, in: where })) }),
    ...(collects.length === 0
      ? {}
      : {
          collects: collects.map(({ list, into, prefix, replaces }) => ({
            list,
            into,
            prefix,
            ...(replaces ? { isReplaced: true as const } : {}),
          })),
        }),
  };
}

const NOTES = 'notes';

/** The names of the lists that an artifact of a contract has. */
function listsOf(contract: Contract | undefined): readonly string[] {
  const { shape } = contract ?? {};
  const fields = shape && partOf(shape, 'properties');
  if (shape === undefined || fields === undefined) return [];
  return fieldNames(shape).filter((name) => partOf(fields, name)?.['type'] === 'array');
}

function emitUserDependency(
  { at, userDependency, assurance }: StandardStep,
  { findings, isLegacy }: Emission,
): Pick<CompiledStep, 'userDependency'> {
  if (userDependency === undefined) return {};
  if (userDependency.reason === 'needs_user_secret_or_token' && userDependency.contextKey !== undefined) {
    findings.push({
      code: 'secret_in_context',
      severity: isLegacy ? 'warning' : 'error',
      at: `${at}/userDependency/contextKey`,
      message:
        'A secret must not go into context, where it is stored in plain text. Remove "contextKey", and say in "prompt" where the user puts the secret.',
    });
  }
  const { contextKey, ...rest } = userDependency;
  type Key = NonNullable<NonNullable<CompiledStep['userDependency']>['contextKey']>;
  const needed = assurance ?? dependencyAssurance(userDependency);
  return {
    userDependency: {
      ...rest,
      ...(contextKey === undefined ? {} : { contextKey: contextKey as Key }),
      ...(needed === 'stated' ? {} : { assurance: needed }),
    },
  };
}

/** Consent, and choices that cannot be taken back, are not taken from the agent. */
function dependencyAssurance({ reason, choiceKind }: NonNullable<StandardStep['userDependency']>): Assurance {
  if (reason === 'needs_user_approval') return 'confirmed';
  const isGrave = reason === 'needs_user_choice' && choiceKind !== undefined && GRAVE_CHOICES.has(choiceKind);
  return isGrave ? 'confirmed' : 'stated';
}

const GRAVE_CHOICES: ReadonlySet<string> = new Set([
  'irreversible_action',
  'external_side_effect',
  'policy_or_compliance',
]);

/** What an approval of the step needs; only a step that asks for one says so. */
function emitAssurance({
  confirmation,
  assurance,
  bindsTree,
}: StandardStep): Pick<CompiledStep, 'assurance' | 'bindsTree'> {
  const needed = assurance ?? 'confirmed';
  return {
    ...(gatesOf(confirmation).some(({ kind }) => kind === 'human_approval') && needed !== 'stated'
      ? { assurance: needed }
      : {}),
    ...(bindsTree ? {} : { bindsTree: false as const }),
  };
}

type PinnedFunction = Emission['functions'][number];
type Parameter = PinnedFunction['parameters'][number];

/** The functions a step refers to or calls: its own come before its loops', and these before the workflow's. */
function emitFunctions(
  step: StandardStep,
  loops: readonly string[],
  { functions, findings }: Emission,
): Pick<CompiledStep, 'functionNames' | 'functionCalls'> {
  const { functionReferences, functionCalls } = step;
  if (functionReferences.length === 0 && functionCalls.length === 0) return { functionNames: [] };
  const visible = visibleFunctions(functions, step.id, loops);
  const named = [
    ...functionReferences.map(({ name, at }) => ({ name, at })),
    ...functionCalls.map(({ name, at }) => ({ name, at: `${at}/name` })),
  ];
  for (const { name, at } of named) {
    if (!visible.has(name)) findings.push(unknownName('function', at, { name, known: [...visible.keys()] }));
  }
  for (const call of functionCalls) checkArguments(call, visible.get(call.name)?.parameters, findings);
  const functionNames = [...new Set(named.map(({ name }) => name))];
  if (functionCalls.length === 0) return { functionNames };
  return { functionNames, functionCalls: functionCalls.map(({ name, args }) => ({ name, args })) };
}

/** A definition reaches the agent only with a step that refers to it, whatever its texts say. */
function reportUnseen(
  { syntax, provenance }: ExpandedStep,
  prompt: string,
  { emission, scope }: { readonly emission: Emission; readonly scope: readonly string[] },
): void {
  const { functions, findings } = emission;
  // The steps of a routine are reported in its own file.
  if (functions.length === 0 || provenance.source !== 'authored') return;
  const { at, id, guidance, fragments, functionReferences, functionCalls } = syntax;
  const visible = visibleFunctions(functions, id, scope);
  const shown = new Set([...functionReferences, ...functionCalls].map(({ name }) => name));
  const places = [
    { key: syntax.promptBlocks === undefined ? 'prompt' : 'promptBlocks', text: prompt },
    { key: 'guidance', text: guidance.join('\n') },
    { key: 'promptFragments', text: fragments.map(({ text }) => text).join('\n') },
    { key: 'functionReferences', text: [...shown].map((name) => visible.get(name)?.definition ?? '').join('\n') },
  ];
  // A reference that is misspelled is reported itself.
  const misspelled = [...shown].filter((name) => !visible.has(name));
  for (const name of visible.keys()) {
    const isShown = shown.has(name) || nearest(name, misspelled) !== undefined;
    const place = isShown ? undefined : places.find(({ text }) => isCalledIn(text, name));
    if (place === undefined) continue;
    const message = `This names the function "${name}()", but the step does not show its definition to the agent. Add "functionReferences": ["${name}()"] to the step.`;
    findings.push({ code: 'function_not_shown', severity: 'warning', at: `${at}/${place.key}`, message });
  }
}

function isCalledIn(text: string, name: string): boolean {
  for (let at = text.indexOf(`${name}(`); at !== -1; at = text.indexOf(`${name}(`, at + 1)) {
    if (at === 0 || !/[\w.$-]/.test(text.charAt(at - 1))) return true;
  }
  return false;
}

/** By name; where two have the same, the one nearer to the step hides the other. */
function visibleFunctions(
  functions: readonly PinnedFunction[],
  stepId: string,
  loops: readonly string[],
): ReadonlyMap<string, PinnedFunction> {
  const found = functions.flatMap((one) => {
    const { scope } = one;
    if (scope.kind === 'workflow') return [{ one, distance: loops.length + 1 }];
    if (scope.kind === 'step') return scope.stepId === stepId ? [{ one, distance: 0 }] : [];
    const depth = loops.indexOf(scope.loopId);
    return depth === -1 ? [] : [{ one, distance: loops.length - depth }];
  });
  const farthestFirst = found.toSorted((a, b) => b.distance - a.distance);
  return new Map(farthestFirst.map(({ one }) => [one.name, one]));
}

function checkArguments(
  { at, name, args }: FunctionCall,
  parameters: readonly Parameter[] | undefined,
  findings: CompilerFinding[],
): void {
  if (parameters === undefined) return;
  for (const parameter of parameters) {
    if (parameter.isOptional === true || Object.hasOwn(args, parameter.name)) continue;
    const message = `The function "${name}" needs the argument "${parameter.name}". Add it to "args".`;
    findings.push({ code: 'missing_argument', severity: 'error', at, message });
  }
  const known = parameters.map((parameter) => parameter.name);
  for (const [argument, value] of Object.entries(args)) {
    const place = pointerTo(`${at}/args`, argument);
    const parameter = parameters.find((one) => one.name === argument);
    if (parameter === undefined) {
      const message = `The function "${name}" has no parameter "${argument}".`;
      const unknown = { name: argument, known, isKey: true };
      findings.push({ code: 'unknown_argument', severity: 'error', at: place, message, unknown });
    } else checkChoice(value, parameter, { at: place, findings });
  }
}

/** A value that is filled in while a workflow runs cannot be judged before. */
function checkChoice(
  value: string,
  { name, choices }: Parameter,
  { at, findings }: { readonly at: string; readonly findings: CompilerFinding[] },
): void {
  const words = choices?.map(String);
  if (words === undefined || words.includes(value) || value.includes('{')) return;
  const message = `"${value}" is not an allowed value of "${name}".`;
  findings.push({ code: 'wrong_value', severity: 'error', at, message, unknown: { name: value, known: words } });
}

/** The checks of a step as they are pinned. An agent may report their results in the contract for that. */
function emitChecks({ checks }: StandardStep, emission: Emission): Pick<CompiledStep, 'checks'> {
  if (checks.length === 0) return {};
  emission.contracts.set(verificationReport.contractRef, verificationReport);
  return { checks: checks.map((check) => emitCheck(check, emission)) };
}

function emitCheck(check: CheckSyntax, emission: Emission): Check {
  const { id, run, minimum, expect, against, tests, link, report, atLeast, fresh } = check;
  reportContradictions(check, emission);
  return {
    checkId: id,
    run,
    minimum,
    ...(expect === 'fail' ? { expect } : {}),
    ...(against === undefined ? {} : { against, tests: [...tests] }),
    ...(against === undefined || link === undefined ? {} : { link: [...link] }),
    ...(report === undefined ? {} : { report }),
    ...(report === undefined || atLeast === undefined ? {} : { atLeast }),
    ...(fresh === undefined ? {} : { fresh }),
    ...(emission.boundTexts.some((text) => run.includes(text)) ? { isBound: true as const } : {}),
  };
}

/** A field that would have no effect is a check that its author only believes in. */
function reportContradictions(
  { at, expect, against, tests, link, report, atLeast }: CheckSyntax,
  { findings }: Emission,
): void {
  const reportAt = (key: string, message: string) =>
    findings.push({ code: 'wrong_value', severity: 'error', at: `${at}/${key}`, message });
  if (atLeast !== undefined && report === undefined) {
    reportAt(
      'atLeast',
      'The number of tests is read from a report. Add "report": "tap" or the path of a JUnit XML file.',
    );
  }
  if (expect === 'fail' && against !== undefined) {
    reportAt(
      'expect',
      '"against" already demands that the command fails on the base and passes here. Remove "expect".',
    );
  }
  if (against === undefined && tests.length > 0)
    reportAt('tests', '"tests" needs "against": "base". Add it or remove "tests".');
  if (against === undefined && link !== undefined)
    reportAt('link', '"link" needs "against": "base". Add it or remove "link".');
}
