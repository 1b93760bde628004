package com.acme.shop;

import java.io.Serializable;

/** A category of the catalogue. */
public class Category implements Serializable {
    private static final long serialVersionUID = 1L;

    private String id;
    private String title;

    public Category() {
    }

    public Category(String id, String title) {
        this.id = id;
        this.title = title;
    }

    public String getId() {
        return id;
    }

    public void setId(String id) {
        this.id = id;
    }

    public String getTitle() {
        return title;
    }

    public void setTitle(String title) {
        this.title = title;
    }

    @Override
    public String toString() {
        return "Category{id=" + id + ", title=" + title + "}";
    }
}
