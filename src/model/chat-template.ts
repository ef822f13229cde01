import { Template } from '@huggingface/jinja';
import { CheckpointError } from '../core/index.ts';

export type ContentPart = { type: 'text'; text: string } | { type: 'image' };

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string | ContentPart[];
}

/** The chat_template of a model folder: turns a conversation into the text the model was trained on. */
export class ChatTemplate {
  readonly text: string;
  readonly #origin: string;
  readonly #template: Template;

  constructor(text: string, origin = 'the chat template') {
    this.text = text;
    this.#origin = origin;
    try {
      this.#template = new Template(text);
    } catch (error) {
      throw new CheckpointError(`${origin} is not a usable chat template: ${(error as Error).message}`);
    }
  }

  /**
   * Each image becomes <|vision_start|><|image_pad|><|vision_end|>. The generation prompt opens the answer.
   * CheckpointError where the template itself fails: it belongs to the model, not to the conversation.
   */
  render(messages: readonly ChatMessage[], options: { addGenerationPrompt?: boolean } = {}): string {
    try {
      return this.#template.render({
        messages: [...messages],
        add_generation_prompt: options.addGenerationPrompt ?? true,
        add_vision_id: false,
      });
    } catch (error) {
      throw new CheckpointError(`${this.#origin} fails: ${(error as Error).message}`, { cause: error });
    }
  }
}
