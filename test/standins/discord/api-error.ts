/** A refusal as Discord words it: HTTP status, its own numeric code, a sentence, and for forms the field errors. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: number;
  readonly errors: object | undefined;

  constructor(status: number, code: number, message: string, errors?: object) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }

  toJSON(): object {
    return { message: this.message, code: this.code, ...(this.errors ? { errors: this.errors } : {}) };
  }
}

export const refuse = {
  unauthorized: () => new ApiError(401, 0, "401: Unauthorized"),
  notFound: () => new ApiError(404, 0, "404: Not Found"),
  unknownChannel: () => new ApiError(404, 10003, "Unknown Channel"),
  unknownGuild: () => new ApiError(404, 10004, "Unknown Guild"),
  unknownMessage: () => new ApiError(404, 10008, "Unknown Message"),
  unknownUser: () => new ApiError(404, 10013, "Unknown User"),
  unknownWebhook: () => new ApiError(404, 10015, "Unknown Webhook"),
  unknownInteraction: () => new ApiError(404, 10062, "Unknown interaction"),
  unknownCommand: () => new ApiError(404, 10063, "Unknown application command"),
  tooManyCommands: () => new ApiError(400, 30032, "Maximum number of application commands reached (100)"),
  duplicateName: () =>
    refuse.invalidForm(
      "name_localizations",
      "APPLICATION_COMMANDS_DUPLICATE_NAME",
      "Application command names must be unique",
    ),
  alreadyAcknowledged: () => new ApiError(400, 40060, "Interaction has already been acknowledged."),
  otherAuthor: () => new ApiError(403, 50005, "Cannot edit a message authored by another user"),
  emptyMessage: () => new ApiError(400, 50006, "Cannot send an empty message"),
  notTextChannel: () => new ApiError(400, 50008, "Cannot send messages in a non-text channel"),
  wrongChannelType: () => new ApiError(400, 50024, "Cannot execute action on this channel type"),
  threadArchived: () => new ApiError(400, 50083, "Thread is archived"),
  threadLocked: () => new ApiError(400, 160005, "Thread is locked"),
  /** `path` names the field, as in `options.0.name`. */
  invalidForm: (path: string, code: string, message: string) => {
    const leaf: object = { _errors: [{ code, message }] };
    const errors = path.split(".").reduceRight((inner, key) => ({ [key]: inner }), leaf);
    return new ApiError(400, 50035, "Invalid Form Body", errors);
  },
};
