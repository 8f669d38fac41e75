import type { AxiosResponse } from 'axios';
import { isAxiosError } from 'axios';

export type AnswerFields = Record<string, unknown>;

/** The fields of an answer; none without an answer, or for anything but an object with status 200: ask again later. */
export async function answerFields(call: () => Promise<AxiosResponse<unknown>>): Promise<AnswerFields> {
  try {
    const { status, data } = await call();
    return status === 200 && isFields(data) ? data : {};
  } catch (error) {
    if (isAxiosError(error)) return {};
    throw error;
  }
}

/** The same for a response: empty unless its status is 200 and its body an object. */
export function fieldsIn({ status, data }: AxiosResponse<unknown>): AnswerFields {
  return status === 200 && isFields(data) ? data : {};
}

export function isFields(value: unknown): value is AnswerFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A field as text: counterparts write numbers or strings. Undefined for anything else. */
export function fieldText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
