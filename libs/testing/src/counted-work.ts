/**
 * Counts the units of text that are looked at while a task runs: by regular expressions, normalizations and loops over
 * characters. A sticky expression looks at what it matches, a global one goes on where it stopped. Nothing else may run meanwhile.
 */
export async function countWork(task: () => unknown): Promise<number> {
  let work = 0;
  const { exec } = RegExp.prototype;
  const { normalize, charCodeAt } = String.prototype;
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    const from = this.global ? this.lastIndex : 0;
    const found = exec.call(this, text);
    if (this.sticky) work += found?.[0].length ?? 1;
    else if (this.global && found !== null) work += this.lastIndex - from;
    else work += String(text).length - from;
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
