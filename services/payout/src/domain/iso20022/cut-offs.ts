/** When batches are cut: at times of the day or at intervals in minutes, in UTC. */
export type CutOffs = { readonly dailyMinutes: readonly number[] } | { readonly everyMinutes: number };

const MS_PER_MINUTE = 60_000;
const MINUTES_PER_DAY = 1_440;

/** Parses `HH:MM,HH:MM` or `30m` (1 to 1440, counted from midnight); undefined for anything else. */
export function parseCutOffs(text: string): CutOffs | undefined {
  const every = /^(\d{1,4})m$/.exec(text);
  if (every !== null) {
    const everyMinutes = Number(every[1]);
    return everyMinutes >= 1 && everyMinutes <= MINUTES_PER_DAY ? { everyMinutes } : undefined;
  }
  const times = text.split(',').map((time) => /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time.trim()));
  const minutes = times.map((match) => (match === null ? Number.NaN : Number(match[1]) * 60 + Number(match[2])));
  return minutes.some(Number.isNaN) ? undefined : { dailyMinutes: minutes.toSorted((a, b) => a - b) };
}

/** Epoch ms of the latest cut-off that is not after `now`. */
export function lastCutOff(cutOffs: CutOffs, now: number): number {
  const minute = Math.floor(now / MS_PER_MINUTE);
  const today = minute - (minute % MINUTES_PER_DAY);
  return lastMinute(cutOffs, minute, today) * MS_PER_MINUTE;
}

function lastMinute(cutOffs: CutOffs, minute: number, today: number): number {
  if ('everyMinutes' in cutOffs) return minute - ((minute - today) % cutOffs.everyMinutes);
  const passed = cutOffs.dailyMinutes.filter((time) => today + time <= minute).at(-1);
  return passed === undefined ? today - MINUTES_PER_DAY + (cutOffs.dailyMinutes.at(-1) ?? 0) : today + passed;
}
