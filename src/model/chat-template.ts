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
  readonly #template: Template;

  constructor(text: string, origin = 'the chat template') {
    this.text = text;
    try {
      this.#template = new Template(text);
    } catch (error) {
      throw new CheckpointError(`${origin} is not a usable chat template: ${(error as Error).message}`);
    }
  }

  /** Each image becomes <|vision_start|><|image_pad|><|vision_end|>. The generation prompt opens the answer. */
  render(messages: readonly ChatMessage[], options: { addGenerationPrompt?: boolean } = {}): string {
    return this.#template.render({
      messages: [...messages],
      add_generation_prompt: options.addGenerationPrompt ?? true,
      add_vision_id: false,
    });
  }
}
