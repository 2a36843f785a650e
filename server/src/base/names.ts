/** The rules for names that people and applications choose: of accounts, of keys, of OAuth clients. */
import { ServiceError } from './errors.ts'

export const MAX_NAME_LENGTH = 100

/**
 * False for names with control characters, such as a line break; with characters that reverse the direction of the text beside them; or
 * with half a character, which nothing can store.
 */
export function isReadable(name: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(name)
}

/** Trims the name. @throws ServiceError `bad_request` */
export function readName(text: string): string {
  const name = text.trim()
  if (name.length === 0 || name.length > MAX_NAME_LENGTH || !isReadable(name)) {
    throw new ServiceError(
      'bad_request',
      `the name is not valid: use 1 to ${MAX_NAME_LENGTH} characters, without invisible ones`,
    )
  }
  return name
}
