const MS_PER_DAY = 86_400_000;
const SUNDAY = 0;
const SATURDAY = 6;

/** Epoch ms of the same time of day, this many days from Monday to Friday (UTC) before. Holidays count as such days. */
export function businessDaysBefore(at: number, days: number): number {
  let before = at;
  for (let left = days; left > 0;) {
    before -= MS_PER_DAY;
    if (!isWeekend(before)) left -= 1;
  }
  return before;
}

function isWeekend(at: number): boolean {
  const day = new Date(at).getUTCDay();
  return day === SATURDAY || day === SUNDAY;
}
