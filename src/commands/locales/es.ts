import type { Messages } from "./messages.ts";

export const es: Messages = {
  "notice.failed": "Algo salió mal y no pude responder. Inténtalo de nuevo, por favor.",
  "notice.interrupted":
    "Me reinicié mientras respondía, así que este mensaje quedó sin respuesta. Envíalo de nuevo si todavía la necesitas.",
  "notice.announceFailed":
    "Un subagente ha terminado, pero no se pudo redactar su anuncio. Su resultado está en el historial de su sesión.",
  "notice.completionFailed":
    "Un subagente ha terminado, pero no pude contar el resultado. Está en el historial de su sesión.",
  "denied.owner": "Solo el propietario puede hacer esto. Tu id: {id}",
  "usage.line": "Uso: {usage}",
  "send.description": "Decide si puedo enviar en este chat",
  "send.argument": "on, off, o inherit para seguir la política configurada",
  "send.on": "⚙️ El envío está activado en esta sesión.",
  "send.off": "⚙️ El envío está desactivado en esta sesión.",
  "send.inherit": "⚙️ Esta sesión sigue la política configurada ({effective}).",
  "send.current": "⚙️ El envío está {effective} en esta sesión (lo decide {rule}).",
  "send.effective.on": "activado",
  "send.effective.off": "desactivado",
  "status.description": "Muestra el estado de esta sesión",
  "status.none": "Aquí todavía no hay ninguna sesión.",
  "status.session": "Sesión: {name} (agente {agent})",
  "status.model": "Modelo: {model}",
  "status.tokens": "Tokens: {total, number}",
  "status.tokens.split": "(entrada {input, number} / salida {output, number})",
  "status.runs":
    "{running, plural, =0 {No hay ejecuciones en espera.} one {# ejecución en curso o en espera.} other {# ejecuciones en curso o en espera.}}",
  "status.send": "Envío: {effective} ({rule})",
  "status.lastRunAborted": "La última ejecución se interrumpió.",
  "whoami.description": "Muestra tu id",
  "whoami.id": "Tu id en {channel}: {id}",
  "whoami.owner": "Eres propietario.",
  "whoami.notOwner": "No eres propietario.",
  "help.description": "Lista los comandos",
  "help.title": "Comandos:",
  "help.ownerOnly": "solo el propietario",
};
