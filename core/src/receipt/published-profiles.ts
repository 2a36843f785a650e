/** Finds profiles in the answer of a service, which may be anything. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { parseStrictJson } from './strict-json.ts'

/**
 * Creates the finder of published profiles.
 * @param text the answer of `GET /v1/profiles`. Any other text, and one that two readers could understand differently, has no profiles
 */
export function profilesIn(text: string): (action: string, version: string) => JsonObject | undefined {
  const find = rulesIn(text)
  return (action, version) => find(action, version).profile
}

/** Finds a profile, and the settings under which its claims were judged, now and earlier. Older services publish no settings. */
export function rulesIn(
  text: string,
): (action: string, version: string) => { readonly profile: JsonObject | undefined; readonly settings: JsonObject[] } {
  const document = strictJson(text)
  const [profiles, settings] = (isJsonObject(document) ? [document.profiles, document.settings] : [[], []]).map(
    (list) => (Array.isArray(list) ? list.filter(isJsonObject) : []),
  )
  return (action, version) => {
    const isMeant = (one: JsonObject) => one.action === action && one.version === version
    return { profile: profiles!.find(isMeant), settings: settings!.filter(isMeant) }
  }
}

function strictJson(text: string): JsonValue | undefined {
  try {
    return parseStrictJson(text).value
  } catch {
    return undefined
  }
}
