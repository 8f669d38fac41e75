/**
 * Counts the units of text that are looked at while a task runs: by regular expressions, normalizations and loops over
 * characters. A sticky expression looks at what it matches. Nothing else may run meanwhile.
 */
export async function countWork(task: () => unknown): Promise<number> {
  let work = 0;
  const { exec } = RegExp.prototype;
  const { normalize, charCodeAt } = String.prototype;
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    const found = exec.call(this, text);
    work += this.sticky ? (found?.[0].length ?? 1) : String(text).length;
    return found;
  };
  String.prototype.normalize = function (this: string, form?: string) {
    work += this.length;
    return normalize.call(this, form);
  };
  String.prototype.charCodeAt = function (this: string, at: number) {
    work += 1;
    return charCodeAt.call(this, at);
  };
  try {
    await task();
  } finally {
    RegExp.prototype.exec = exec;
    String.prototype.normalize = normalize;
    String.prototype.charCodeAt = charCodeAt;
  }
  return work;
}
