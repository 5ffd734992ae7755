/** The same value with each of its texts replaced, the names in it too. */
export function mapTexts<Value>(value: Value, replace: (text: string) => string): Value {
  return mapped(value, replace) as Value;
}

function mapped(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapped(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [replace(key), mapped(item, replace)]));
}
