import { isKeyLike, isNamedSecret, isSecretName } from './secret-names.ts';

export type ValueRedaction = {
  /** A text with its secrets hidden. */
  readonly redact: (text: string) => string;
  /** Stands for all of a value. */
  readonly hide: () => string;
};

/** The same value with its secrets hidden: in its texts, and all that stands under a name that says so, however deep. */
export function redactValue<Value>(value: Value, redaction: ValueRedaction): Value {
  return redacted(value, redaction, undefined) as Value;
}

/** `name` is the innermost name around the value that says that it is secret. */
function redacted(value: unknown, redaction: ValueRedaction, name: string | undefined): unknown {
  if (typeof value === 'string' || typeof value === 'number') {
    if (name !== undefined && isNamedSecret(name, value)) return redaction.hide();
    return typeof value === 'string' ? redaction.redact(value) : value;
  }
  if (Array.isArray(value)) {
    const named = pairIn(value);
    return value.map((item, i) => redacted(item, redaction, i === 1 && named !== undefined ? named : name));
  }
  if (typeof value !== 'object' || value === null) return value;
  const told = nameToldIn(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const isTold = told !== undefined && VALUE_FIELD.test(key);
      const innerName = isSecretName(key) ? key : isTold ? told : name;
      return [redaction.redact(key), redacted(item, redaction, innerName)];
    }),
  );
}

const NAME_FIELD = /^(?:name|key|id|field|label|header|variable|setting)$/i;
const VALUE_FIELD = /^(?:values?|val|content|data|default|current|text)$/i;

/** `{ name: 'DB_PASSWORD', value: … }` says in one field what the other is. */
function nameToldIn(value: object): string | undefined {
  const told = Object.entries(value).find(
    ([key, name]) => NAME_FIELD.test(key) && typeof name === 'string' && isSecretName(name),
  );
  return told?.[1];
}

/** `['password', …]`, where the second looks like one; it may also be a list of names. */
function pairIn(value: readonly unknown[]): string | undefined {
  const [name, item] = value;
  const isPair = value.length === 2 && typeof name === 'string' && typeof item === 'string';
  return isPair && isSecretName(name) && isKeyLike(item) ? name : undefined;
}
