/** Card data. Always in a `Secret`; never in a message, a log line or another collection. */
export interface CardData {
  /** 13 to 19 digits. */
  readonly pan: string;
  /** '01' to '12'. */
  readonly expMonth: string;
  /** Four digits, e.g. '2030'. */
  readonly expYear: string;
  readonly holder: string;
}
