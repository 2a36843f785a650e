/** Finds profiles in what a service publishes of them. What a service says may be anything. */
import { isJsonObject, type JsonObject, objectIn } from '../json.ts'

/** @param text the answer of `GET /v1/profiles`; any other text has none */
export function profilesIn(text: string): (action: string, version: string) => JsonObject | undefined {
  const { profiles } = objectIn(text)
  const list = Array.isArray(profiles) ? profiles.filter(isJsonObject) : []
  return (action, version) => list.find((one) => one.action === action && one.version === version)
}
